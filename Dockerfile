# TypeScript runs as it is on this Node: there is no build step. The version is the one that package.json pins.
FROM node:24.21.0-bookworm-slim@sha256:2fe369e969550cde8e867afc3fe370b260140cab4a23d467074295b42163d553
ENV NODE_ENV=production
WORKDIR /app
# Without install scripts: the only one that matters brings Node itself, and that is here. The embedded engines of
# `npm start` are optional packages and stay out. So is, for npm, the native part of the stream's codec, which its
# package loads all the same: it comes by name, for this platform alone.
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  && npm install --no-save --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
    @triton-one/yellowstone-grpc-napi-linux-x64-gnu@0.2.1 \
  && npm cache clean --force
COPY schemas schemas
COPY runtime runtime
COPY clickhouse clickhouse
COPY ingest ingest
COPY api api
COPY start start
COPY devnet devnet
COPY deploy/healthcheck.ts deploy/healthcheck.ts
# Volumes take their owner from here.
RUN install -d -o node -g node /var/lib/bankroll /var/lib/devnet
USER 1000:1000
