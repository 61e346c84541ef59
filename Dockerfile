# syntax=docker/dockerfile:1
FROM node:24-bookworm-slim AS build
# Names for debuggers are a seventh of Node's program.
RUN apt-get update \
    && apt-get install -y --no-install-recommends binutils \
    && rm -rf /var/lib/apt/lists/* \
    && strip /usr/local/bin/node
WORKDIR /app
# The packages change seldom and the sources often: they have a layer of their own. None of those that end up in the
# image needs an install script.
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY schemas schemas
COPY src src
COPY scripts/generate-code.ts scripts/schema-code.ts scripts/spec-types.ts scripts/build.mjs scripts/package-manifest.mjs scripts/
# The program holds its libraries, but for the native one, of which one C library needs one build. Their licences are in dist.
RUN npm run build \
    && node scripts/package-manifest.mjs \
    && npm prune --omit=dev --ignore-scripts \
    && rm -rf node_modules/@libsql/*-musl node_modules/.package-lock.json \
    && find node_modules -type d -empty -delete

# Node's own image brings npm, yarn and headers along, which are more than all of ours. Of it only the program is taken.
FROM debian:bookworm-slim
# Files that Debian's packages bring and nobody here opens: manuals, translations, and git's servers and mail.
COPY deploy/image/dpkg-excludes /etc/dpkg/dpkg.cfg.d/flagkeel
# git reads the specs and keeps the state, ssh and the certificates let it fetch; tini passes signals on and reaps the
# git processes that a stopped run leaves behind. libstdc++ is Node's. Perl, a fifth of the image, is what git sends mail
# and talks to Subversion with.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates git libstdc++6 openssh-client tini \
    && dpkg --purge --force-depends $(dpkg-query --show --showformat '${Package}\n' \
        perl 'perl-modules-5*' 'libperl5*' liberror-perl) \
    && apt-get clean \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/apt /var/log/dpkg.log \
    && groupadd --gid 1000 node \
    && useradd --uid 1000 --gid node --create-home --shell /usr/sbin/nologin node \
    && install -d -o node -g node /config /var/lib/flagkeel /var/lib/flagkeel/state

COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /app/package.json /app/
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/schemas /app/schemas
COPY docs/*.md /app/docs/
COPY pages /app/pages
COPY workflows /app/workflows
COPY --from=build /app/dist /app/dist
COPY specs-example /app/specs-example
COPY LICENSE /app/

# The release says them; an image that somebody builds for themselves need not.
ARG VERSION=unknown
ARG SOURCE=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="flagkeel" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.description="Feature flags in git, compared with the flag administration service and applied in a safe order" \
      org.opencontainers.image.licenses="Apache-2.0"

ENV NODE_ENV=production \
    FLAGKEEL_STATE_DIR=/var/lib/flagkeel/state

# Everything that outlives a run; the rest of the file system may be read-only.
VOLUME /var/lib/flagkeel
WORKDIR /config
USER node
STOPSIGNAL SIGTERM
# Asks what the container was started as: the daemon with --listen, and the service. Anything else is well while it runs.
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s --retries=3 CMD ["node", "/app/dist/health/check.js"]
ENTRYPOINT ["tini", "--", "node", "/app/dist/main.js"]
CMD ["--help"]
