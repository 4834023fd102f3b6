import { ConnectionFailed } from "@moneta/client";
import type { ErrorRequestHandler, RequestHandler } from "express";

import { isBusy } from "./moneta.ts";
import { problemPage } from "./page.ts";

/** A mistake in a call. Its sentence is shown to the visitor. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

/** The page runs only its own script, sends forms only to the shop, and is in nobody's frame. */
export const securityHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    "Content-Security-Policy":
      "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    // With `no-referrer` browsers would send `Origin: null` with the shop's own forms.
    "Referrer-Policy": "same-origin",
  });
  next();
};

/**
 * Refuses forms that another site sends from the visitor's browser (CSRF). The cookie's SameSite is not enough: another
 * port of the same host counts as the same site. Browsers send Origin with every POST, and no page can change it.
 */
export function ownFormsOnly(shopUrl: string): RequestHandler {
  return (request, _response, next) => {
    if (request.method === "POST" && request.get("origin") !== shopUrl) {
      throw new Refusal(403, `This form did not come from the shop. Open ${shopUrl} and try again.`);
    }
    next();
  };
}

/** Visitors get a sentence. What went wrong inside is for the log alone. */
export const showProblem: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) {
    next(error);
    return;
  }
  const status = statusOf(error);
  if (status >= 500) console.error(error);
  const sentence =
    error instanceof Refusal
      ? error.message
      : status < 500
        ? "The shop does not understand this call."
        : "The shop cannot do this now. Nothing is lost: please try again in a minute.";
  response.status(status).send(problemPage(sentence));
};

function statusOf(error: unknown): number {
  if (error instanceof ConnectionFailed || isBusy(error)) return 503;
  // Express refuses bodies that it cannot read, and errors of its own have a status too.
  const status = error instanceof Error && "status" in error ? Number(error.status) : 500;
  return error instanceof Refusal || (error instanceof Error && "expose" in error) ? status : 500;
}
