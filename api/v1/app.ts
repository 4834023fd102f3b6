import express, { type Express } from "express";

import { AcceptQueue } from "../commands/accept-queue.ts";
import { WalletQueue } from "../commands/create-wallet.ts";
import { LookUps } from "../commands/look-ups.ts";
import { UploadSlots } from "../commands/upload-media.ts";
import { ApiError } from "../domain/error-codes.ts";
import { authenticate } from "./authenticate.ts";
import { checkRequest } from "./check-request.ts";
import type { AppDeps, HttpDeps } from "./deps.ts";
import { consolePages } from "./console/routes.ts";
import { docs } from "./docs/routes.ts";
import { endpointsOf } from "./endpoints.ts";
import { errorHandler } from "./errors.ts";
import { OpenBodies, UnreadAnswers } from "./held-bytes.ts";
import { health } from "./health.ts";
import { ipfsGateway } from "./ipfs/routes.ts";
import { hostedMetadata } from "./metadata/routes.ts";
import { measure } from "./measure.ts";
import { mount, mountPublic } from "./mount.ts";
import { home } from "./pages/home.ts";
import { limitPublic, RateLimit } from "./rate-limit.ts";
import { requestLog } from "./request-log.ts";
import { securityHeaders } from "./security-headers.ts";

/** The whole HTTP side. It opens no port: `server.ts` does. */
export function createApp(parts: AppDeps): Express {
  const { database, settings } = parts;
  const deps: HttpDeps = {
    ...parts,
    accepting: new AcceptQueue(database, settings),
    creatingWallets: new WalletQueue(database, parts.deriver),
    lookUps: new LookUps(database.read),
    uploads: new UploadSlots(),
    unread: new UnreadAnswers(settings.limits, parts.answerPace),
    bodies: new OpenBodies(settings.limits.openBodyBytes),
    rates: new RateLimit(
      {
        perMinute: settings.limits.ratePerMinute,
        publicPerMinute: settings.limits.publicRatePerMinute,
        itemsPerMinute: settings.limits.batchItemsPerMinute,
      },
      { database, processes: parts.apiProcesses },
    ),
  };
  const app = express();
  const endpoints = endpointsOf(settings.limits);
  // Express would hash every answer. Only hosted metadata needs a tag, and makes its own.
  app.disable("etag");
  app.disable("x-powered-by");
  // `request.ip` is the client, not the proxy.
  app.set("trust proxy", settings.trustProxy);
  app.use(measure(deps.metrics));
  app.use(requestLog(deps.logger));
  app.use(securityHeaders());
  app.use(deps.unread.watch());
  app.use(checkRequest);
  // First, because almost all calls go there.
  app.use("/v1", deps.unread.limit(), mountPublic(endpoints, deps), authenticate(deps), mount(endpoints, deps));
  app.use(health(deps));
  app.use(deps.unread.limit(), limitPublic(deps));
  app.use(home(deps));
  app.use(docs(deps));
  app.use(consolePages());
  app.use("/metadata", hostedMetadata(deps));
  app.use("/ipfs", ipfsGateway(deps));
  app.use(() => {
    throw new ApiError("not_found");
  });
  app.use(errorHandler);
  return app;
}
