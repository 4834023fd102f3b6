import express, { type Express } from "express";
import helmet from "helmet";

import { AcceptQueue } from "../commands/accept-request.ts";
import { WalletQueue } from "../commands/create-wallet.ts";
import { ApiError } from "../domain/error-codes.ts";
import { authenticate } from "./authenticate.ts";
import { checkRequest } from "./check-request.ts";
import type { AppDeps, HttpDeps } from "./deps.ts";
import { docs } from "./docs/routes.ts";
import { endpointsOf } from "./endpoints.ts";
import { errorHandler } from "./errors.ts";
import { health } from "./health.ts";
import { ipfsGateway } from "./ipfs/routes.ts";
import { hostedMetadata } from "./metadata/routes.ts";
import { mount } from "./mount.ts";
import { home } from "./pages/home.ts";
import { RateLimit } from "./rate-limit.ts";
import { requestLog } from "./request-log.ts";

/** The whole HTTP side. It opens no port: `server.ts` does. */
export function createApp(parts: AppDeps): Express {
  const { database, settings } = parts;
  const deps: HttpDeps = {
    ...parts,
    accepting: new AcceptQueue(database, settings),
    creatingWallets: new WalletQueue(database),
  };
  const app = express();
  const rates = new RateLimit(deps.settings.limits.ratePerMinute);
  // Express would hash every answer. Only hosted metadata needs a tag, and makes its own.
  app.disable("etag");
  app.use(requestLog(deps.logger));
  app.use(
    helmet({
      // JSON loads nothing. The pages set their own policy. (Helmet's default policy would also redirect plain HTTP to HTTPS.)
      contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
      // HTTPS for a whole domain is the operator's decision: the proxy that terminates TLS sets this header.
      strictTransportSecurity: false,
    }),
  );
  app.use(checkRequest);
  app.use(health(deps));
  app.use(home(deps));
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
