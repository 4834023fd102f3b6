import { Router } from "express";

import { PARKED } from "../domain/conditions.ts";
import { ApiError } from "../domain/error-codes.ts";
import type { HttpDeps } from "./deps.ts";

/** `/healthz`: the process runs. `/readyz`: the service can work, including its database and its chain. */
export function health(deps: Pick<HttpDeps, "readiness">): Router {
  const router = Router();
  router.get("/healthz", (_request, response) => {
    response.set("Cache-Control", "no-store").json({ status: "ok" });
  });
  router.get("/readyz", async (_request, response) => {
    const { ready, checks } = await deps.readiness();
    if (!ready) {
      const failing = Object.entries(checks).filter(([, result]) => result !== "ok" && result !== PARKED);
      const errors = failing.map(([field, message]) => ({ field, code: "unavailable", message }));
      const message = "The service is not ready. `errors` names the failing checks.";
      throw new ApiError("unavailable", errors, { retryAfter: 5, message });
    }
    response.set("Cache-Control", "no-store").json({ status: "ready", checks });
  });
  router.all(["/healthz", "/readyz"], (_request, response) => {
    response.set("Allow", "GET, HEAD");
    throw new ApiError("method_not_allowed");
  });
  return router;
}
