import express, { type Express } from "express";
import helmet from "helmet";

import { ApiError } from "../domain/error-codes.ts";
import { authenticate } from "./authenticate.ts";
import type { HttpDeps } from "./deps.ts";
import { docs } from "./docs/routes.ts";
import { endpointsOf } from "./endpoints.ts";
import { errorHandler } from "./errors.ts";
import { health } from "./health.ts";
import { ipfsGateway } from "./ipfs/routes.ts";
import { hostedMetadata } from "./metadata/routes.ts";
import { mount } from "./mount.ts";
import { RateLimit } from "./rate-limit.ts";
import { requestLog } from "./request-log.ts";

/** The whole HTTP side. It listens to nothing by itself: see `server.ts`. */
export function createApp(deps: HttpDeps): Express {
  const app = express();
  const rates = new RateLimit(deps.settings.limits.ratePerMinute);
  // Express would hash every answer; only hosted metadata is worth a tag, and makes its own.
  app.disable("etag");
  app.use(requestLog(deps.logger));
  app.use(
    helmet({
      // Nothing served here is a page, but for the docs, which say so. (The default would also send plain-HTTP installations to HTTPS.)
      contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    }),
  );
  app.use(health(deps));
  app.use(docs(deps));
  app.use("/metadata", hostedMetadata(deps));
  app.use("/ipfs", ipfsGateway(deps));
  app.use("/v1", authenticate(deps.database.read, rates), mount(endpointsOf(deps.settings.limits), deps));
  app.use(() => {
    throw new ApiError("not_found");
  });
  app.use(errorHandler);
  return app;
}
