# syntax=docker/dockerfile:1
FROM node:20-slim AS build
WORKDIR /app
# The packages change seldom and the sources often: they have a layer of their own. None of those that end up in the
# image needs an install script.
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY schemas schemas
COPY src src
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:20-slim
# git reads the specs and keeps the state, ssh and the certificates let it fetch; tini passes signals on and reaps the
# git processes that a stopped run leaves behind.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates git openssh-client tini \
    && apt-get clean \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log \
    && install -d -o node -g node /var/lib/flaghoist /var/lib/flaghoist/state

COPY --from=build /app/package.json /app/
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/schemas /app/schemas
COPY --from=build /app/dist /app/dist
COPY LICENSE /app/

LABEL org.opencontainers.image.title="flaghoist" \
      org.opencontainers.image.description="Feature flags in git, compared with the flag administration service and applied in a safe order" \
      org.opencontainers.image.licenses="Apache-2.0"

ENV NODE_ENV=production \
    FLAGHOIST_STATE_DIR=/var/lib/flaghoist/state

# Everything that outlives a run; the rest of the file system may be read-only.
VOLUME /var/lib/flaghoist
WORKDIR /config
USER node
STOPSIGNAL SIGTERM
# No HEALTHCHECK: validate and reconcile end by themselves, and a check of theirs could only fail. Who keeps `service`
# running gives the check where it is run, with the port that was chosen there.
ENTRYPOINT ["tini", "--", "node", "/app/dist/main.js"]
CMD ["--help"]
