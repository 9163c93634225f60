# A venue, or a gateway of one. Nothing is downloaded but the packages of the lock file.
#
#   docker build -t perpgate .
#   docker run --init --network host -e PERPGATE_METRICS_HOST=127.0.0.1 -v perpgate:/home/node/data perpgate
#
# --init: the kernel protects process 1 from its own SIGKILL. docs/operating.md has more.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN ["npm", "ci"]
RUN ["npm", "run", "build"]
RUN ["npm", "prune", "--omit=dev"]

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/packages packages
COPY --from=build /app/apps apps
COPY --from=build /app/docs docs
ENV NODE_ENV=production
ENV UV_THREADPOOL_SIZE=2
ENV PERPGATE_DATA=/home/node/data
# In the container's own network, where loopback is out of Prometheus' reach; nothing is published.
ENV PERPGATE_METRICS_HOST=0.0.0.0
USER node
RUN ["mkdir", "-m", "700", "/home/node/data"]
VOLUME /home/node/data
EXPOSE 8080 9464
HEALTHCHECK --start-period=10m CMD ["/app/node_modules/.bin/node", "-e", "fetch('http://127.0.0.1:8080/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/app/node_modules/.bin/node", "--max-semi-space-size=64", "/app/apps/perpgate/bin/perpgate.js"]
CMD ["serve"]
