import { Router } from "express";

import { READINESS_WORDS } from "../domain/conditions.ts";
import { ApiError } from "../domain/error-codes.ts";
import type { HttpDeps } from "./deps.ts";

/** `/healthz`: the process runs. `/readyz`: the process can serve calls. Its checks are fixed words, because anybody may ask. */
export function health(deps: Pick<HttpDeps, "readiness">): Router {
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
    response.set("Allow", "GET, HEAD");
    throw new ApiError("method_not_allowed");
  });
  return router;
}
