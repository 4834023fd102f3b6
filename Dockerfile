# An image of the service. `docker build --tag moneta .` builds it; docs/install.md says how to run it.
# BASE: any image with Node 24 and npm.
ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# Only the local chain of `npm start` is optional. No package needs its install script here: Node is in the image, and
# better-sqlite3 brings its compiled library.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
# The image has Node, so the package `node` goes.
RUN npm pkg delete dependencies.node \
  && npm prune --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
# What only compilers, debuggers, browsers and other platforms use: half of the size.
RUN cd node_modules \
  && find . -type f \( -name "*.map" -o -name "*.d.ts" -o -name "*.d.mts" -o -name "*.d.cts" \) -delete \
  && rm -rf ethers/dist ethers/src.ts better-sqlite3/deps better-sqlite3/src \
  && find better-sqlite3/prebuilds -type f ! -name "linux*-$(node -p process.arch).node" -delete

FROM ${BASE}
LABEL org.opencontainers.image.title="Moneta" \
  org.opencontainers.image.description="Self-hosted NFT back end" \
  org.opencontainers.image.version="0.3.0" \
  org.opencontainers.image.licenses="MIT"
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=packages /app/node_modules node_modules
COPY contracts/generated contracts/generated
COPY api api
COPY client client
COPY console/built console/built
COPY ops/image/health-check.mjs ops/image/compile.mjs ops/image/
COPY --chmod=755 ops/image/moneta /usr/local/bin/moneta
# The user has no name, so that it exists in every base image.
RUN mkdir -p /data node_modules/.cache/moneta && chown 1000:1000 /data node_modules/.cache/moneta && chmod 700 /data
USER 1000:1000
# A start compiles nothing. Afterwards the service cannot write there: who can change compiled code can change the service.
RUN ["node", "/app/ops/image/compile.mjs"]
USER 0
RUN chown -R 0:0 node_modules/.cache && chmod -R a+rX node_modules/.cache
USER 1000:1000
# HOST: other containers and published ports reach only this address. METRICS_PORT: the health check of a process without the
# role `api` asks this port, which only the container itself reaches.
ENV NODE_ENV=production DATA_DIR=/data HOST=0.0.0.0 METRICS_PORT=9464
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=10s --start-period=60s --retries=3 CMD ["node", "/app/ops/image/health-check.mjs"]
ENTRYPOINT ["node"]
CMD ["/app/api/main.ts"]
