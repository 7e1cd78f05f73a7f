#!/usr/bin/env bash
# Releases two versions of the committed state to a registry on 127.0.0.1 and installs them on the cluster in KUBECONFIG:
#   KUBECONFIG=… NODE_EXEC='…' test/cluster/release.sh
# NODE_EXEC runs a command in the network of the only node, such as `nsenter -t PID -n`, so that the node reaches the registry at the
# same address. Needs the programs of release/install-tools, docker-registry and kubectl.
# Release, cosign verify, install by version, by digest, upgrade, rollback; prints the seconds of each step as a table.
set -euo pipefail
: "${KUBECONFIG:?}" "${NODE_EXEC:?}"
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
work=$(mktemp -d) port=${REGISTRY_PORT:-5077} namespace=parley-release-$$
registry=127.0.0.1:$port clone=$work/clone
export PATH=$root/node_modules/.bin:$PATH COSIGN_PASSWORD=x RELEASE_BUILD_NETWORK=host
export GIT_AUTHOR_NAME=T GIT_AUTHOR_EMAIL=t@example.com GIT_COMMITTER_NAME=T GIT_COMMITTER_EMAIL=t@example.com
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; kubectl delete namespace "$namespace" --wait=false --ignore-not-found >/dev/null; rm -rf "$work"' EXIT

step() { # description, command…
  local begun=$SECONDS what=$1
  shift
  "$@" >"$work/output" 2>&1 || { cat "$work/output" >&2; echo "| $what | **failed** |"; exit 1; }
  echo "| $what | $((SECONDS - begun)) s |"
}

cat >"$work/registry.yml" <<YAML
version: 0.1
storage: { filesystem: { rootdirectory: $work/registry } }
http: { addr: $registry }
YAML
docker-registry serve "$work/registry.yml" >"$work/registry.log" 2>&1 & pids+=($!)
# Another process with the same storage, at the same address in the network of the node.
$NODE_EXEC docker-registry serve "$work/registry.yml" >"$work/registry-of-node.log" 2>&1 & pids+=($!)

git clone --quiet "$root" "$clone"
cp -al "$root/node_modules" "$clone/" && echo node_modules >>"$clone/.git/info/exclude"
cd "$clone"
first=$(node -p 'require("./package.json").version')
second=${first%.*}.$((${first##*.} + 1))
echo '{ name: T, security_contact: s@example.com, home: "https://example.com", source: "https://example.com/git" }' >release/owner.yaml
npm run --silent release -- --version "$first" --prepare
git commit --quiet --all --message 'owner and changelog'
(cd "$work" && cosign generate-key-pair >/dev/null 2>&1)

release() { npm run --silent release -- --version "$1" --registry "$registry" --sign "$work/cosign.key"; }
next() { # the commit of the next version
  sed -i "s/^## \[Unreleased\]$/&\n\n- The next version./" CHANGELOG.md
  npm run --silent release -- --version "$second" --prepare
  git commit --quiet --all --message "version $second"
}
digest() { node -p "JSON.parse(fs.readFileSync('release/built/$1/release.json')).$2.split('@')[1]"; }
verify() { cosign verify --key "$work/cosign.pub" --insecure-ignore-tlog=true --allow-http-registry "$1"; }
refused() { ! "$@"; }
running() { # image reference: every pod of API and worker runs it
  local images
  images=$(kubectl -n "$namespace" get pods -l 'app.kubernetes.io/component in (api,worker)' --field-selector status.phase=Running -o jsonpath='{range .items[?(@.status.containerStatuses[0].ready==true)]}{.spec.containers[0].image}{"\n"}{end}' | sort -u)
  echo "running: $images; expected: $1"
  [ "$images" = "$1" ]
}
settled() { for each in api worker; do kubectl -n "$namespace" rollout status "deployment/parley-$each" --timeout 5m; done; sleep 15; }
values=(--set "postgresql.image.registry=,postgresql.image.repository=postgres,valkey.image.registry=,valkey.image.repository=valkey/valkey")
chart=(parley "oci://$registry/charts/parley" --plain-http --namespace "$namespace" "${values[@]}" --wait --timeout 8m)
test_release() { helm test parley --namespace "$namespace" --timeout 5m; }

echo "| Step | Duration |"
echo "|---|---|"
step "release $first" release "$first"
verify_all() {
  verify "$registry/parley@$(digest "$first" image)" && verify "$registry/parley-backup@$(digest "$first" backup_image)" &&
    verify "$registry/parley-proxy@$(digest "$first" proxy_image)" && verify "$registry/charts/parley@$(digest "$first" chart)"
}
step "cosign verify of the images and the chart" verify_all
wrong=$registry/parley@sha256:$(printf '0%.0s' {1..64})
step "cosign refuses another digest" refused verify "$wrong"
next
step "release $second" release "$second"
kubectl create namespace "$namespace" >/dev/null
kubectl label namespace "$namespace" pod-security.kubernetes.io/enforce=restricted >/dev/null
step "helm install oci://…, version $first" helm install "${chart[@]}" --version "$first"
step "every pod runs the tag" running "$registry/parley:$first"
step "helm test" test_release
step "helm upgrade to the digest of $first" helm upgrade "${chart[@]}" --version "$first" --set "image.digest=$(digest "$first" image)"
settled >/dev/null
step "every pod runs the digest" running "$registry/parley@$(digest "$first" image)"
step "helm upgrade to $second by digest" helm upgrade "${chart[@]}" --version "$second" --set "image.digest=$(digest "$second" image)"
settled >/dev/null
step "every pod runs the digest of $second" running "$registry/parley@$(digest "$second" image)"
step "helm test" test_release
step "helm rollback to $first" helm rollback parley 2 --namespace "$namespace" --wait --timeout 8m
settled >/dev/null
step "every pod runs the digest of $first again" running "$registry/parley@$(digest "$first" image)"
step "parley doctor" kubectl -n "$namespace" exec deploy/parley-api -c api -- parley doctor
