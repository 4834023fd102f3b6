import express, { type Express, type RequestHandler, Router } from "express";

import { AcceptQueue } from "../commands/accept-queue.ts";
import { createWalletDerivation } from "../commands/create-wallet.ts";
import { createLookUps } from "../commands/look-ups.ts";
import { UploadPlaces } from "../commands/upload-media.ts";
import { READINESS_WORDS } from "../domain/conditions.ts";
import { ApiError } from "../domain/error-codes.ts";
import { authenticate } from "./authenticate.ts";
import type { AppDeps, HttpDeps } from "./deps.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { errorHandler, noSuchPath, refuseMethod } from "./errors.ts";
import { Exports } from "./exports/exports.ts";
import { HeldBytes } from "./held-bytes.ts";
import { measure } from "./measure.ts";
import { mount, mountPublic } from "./mount.ts";
import { consolePages } from "./public/console.ts";
import { docs } from "./public/docs.ts";
import { home } from "./public/home.ts";
import { ipfsGateway } from "./public/ipfs.ts";
import { hostedMetadata } from "./public/metadata.ts";
import { limitPublic, RateLimit } from "./rate-limit.ts";
import { requestLog } from "./request-log.ts";

/** The whole HTTP side. It opens no port: `server.ts` does. */
export function createExpressApp(parts: AppDeps): Express {
  const { database, settings } = parts;
  const deps: HttpDeps = {
    ...parts,
    acceptQueue: new AcceptQueue(database, parts.sealer, settings),
    deriveWallets: createWalletDerivation(parts.deriver, database.read),
    lookUps: createLookUps(database.read),
    uploads: new UploadPlaces(),
    exports: new Exports(settings.dataDir, settings.limits),
    bytes: new HeldBytes(settings.limits.callBytes),
    rates: new RateLimit(settings.limits, { database, processes: parts.apiProcesses }),
  };
  const app = express();
  // Express would hash every answer. Only hosted metadata needs a tag, and makes its own.
  app.disable("etag");
  app.disable("x-powered-by");
  // `request.ip` is the client, not the proxy.
  app.set("trust proxy", settings.trustProxy);
  app.use(measure(deps.metrics));
  app.use(requestLog(deps.logger));
  app.use(securityHeaders);
  app.use(checkRequest);
  // First, because almost all calls go there.
  app.use("/v1", mountPublic(ENDPOINTS, deps), authenticate(deps), mount(ENDPOINTS, deps));
  app.use(health(deps));
  app.use(limitPublic(deps));
  app.use(home(deps));
  app.use(docs(deps));
  app.use(consolePages(deps));
  app.use("/metadata", hostedMetadata(deps));
  app.use("/ipfs", ipfsGateway(deps));
  app.use(() => {
    throw noSuchPath();
  });
  app.use(errorHandler);
  return app;
}

/**
 * The headers that Helmet would set. JSON loads nothing, and the pages set their own policy. HTTPS for a whole domain is the
 * operator's decision: the proxy that terminates TLS sets `Strict-Transport-Security`.
 */
const SECURITY_HEADERS = Object.entries({
  "Content-Security-Policy": "default-src 'none';frame-ancestors 'none'",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Origin-Agent-Cluster": "?1",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-DNS-Prefetch-Control": "off",
  "X-Download-Options": "noopen",
  "X-Frame-Options": "SAMEORIGIN",
  "X-Permitted-Cross-Domain-Policies": "none",
  "X-XSS-Protection": "0",
});

const securityHeaders: RequestHandler = (_request, response, next) => {
  for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
  next();
};

/** `/healthz`: the process runs. `/readyz`: the process can serve calls. Its checks are fixed words, because anybody may ask. */
function health(deps: HttpDeps): Router {
  const router = Router();
  router.get("/healthz", (_request, response) => {
    response.set("Cache-Control", "no-store").json({ status: "ok" });
  });
  router.get("/readyz", async (_request, response) => {
    const { ready, checks } = await deps.readiness();
    if (!ready) {
      const failing = Object.entries(checks).filter(([, word]) => word !== "ok" && word !== "parked");
      const errors = failing.map(([field, word]) => ({ field, code: word, message: READINESS_WORDS[word] }));
      const message =
        "The service is not ready. `errors` names the failing checks; the log of the service has the details.";
      throw new ApiError("unavailable", errors, { retryAfter: 5, message });
    }
    response.set("Cache-Control", "no-store").json({ status: "ready", checks });
  });
  router.all(["/healthz", "/readyz"], (_request, response) => {
    refuseMethod(response, "GET, HEAD");
  });
  return router;
}

/** Refuses what HTTP forbids and Node would otherwise refuse without a JSON body. */
const checkRequest: RequestHandler = (request, response, next) => {
  const expect = request.get("expect");
  if (expect !== undefined && !/^100-continue$/i.test(expect)) {
    // The body was not read: the connection cannot be used again.
    response.set("Connection", "close");
    throw new ApiError("expectation_failed");
  }
  // HTTP/1.0 has no Host header.
  if (request.httpVersion === "1.1" && request.headers.host === undefined) {
    throw new ApiError("malformed_request", null, {
      message: "The call has no `Host` header, which HTTP/1.1 requires. Add it.",
    });
  }
  next();
};
