// The image's health check: does this container's process answer HTTP? It asks the API, or /metrics in a process without the
// role `api`. It does not ask whether the database and the chain answer (/readyz): a new container would not repair them.
const { HOST, PORT, ROLES, METRICS_HOST, METRICS_PORT } = process.env;

const TIMEOUT = 8_000;

function addressOf(host, port) {
  const ownHost = ["", "0.0.0.0", "::"].includes(host?.trim() ?? "") ? "127.0.0.1" : host.trim();
  return `http://${ownHost.includes(":") ? `[${ownHost}]` : ownHost}:${port.trim()}`;
}

function urlToAsk() {
  const roles = (ROLES?.trim() || "api").split(",").map((role) => role.trim());
  if (roles.includes("api")) return `${addressOf(HOST, PORT?.trim() || "3000")}/healthz`;
  if (!METRICS_PORT?.trim())
    throw new Error(
      "A process without the role `api` answers no HTTP: set METRICS_PORT, or turn the health check off.",
    );
  return `${addressOf(METRICS_HOST, METRICS_PORT)}/metrics`;
}

try {
  const url = urlToAsk();
  const { status } = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT) });
  console.log(`${url} answered ${status}`);
  process.exit(status === 200 ? 0 : 1);
} catch (error) {
  console.error(`The process does not answer: ${error.cause?.message ?? error.message}`);
  process.exit(1);
}
