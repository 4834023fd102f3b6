import type { z } from "zod";

import type { Scope } from "../commands/access-token.ts";
import type { Caller } from "../commands/idempotency.ts";
import type { HttpErrorCode } from "../domain/error-codes.ts";
import type { HttpDeps } from "./deps.ts";

/** A call that passed authentication, scope and validation. */
export interface Call<P, Q, B> extends Caller {
  params: P;
  query: Q;
  body: B;
}

/** An answer whose JSON text exists already: the first answer of a repeated call, byte for byte. */
export class Verbatim {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

/**
 * One endpoint under `/v1`: what it takes, what it answers, and how. Routing, validation and the published document
 * are all made from this.
 */
export interface EndpointSpec<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** Express path under `/v1`. */
  path: string;
  summary: string;
  /** Its name in the document, from which clients are made. */
  name: string;
  /** What its user should know besides, in Markdown. */
  description?: string;
  /** Samples for the document: bodies that are accepted, each under what it shows, and an answer. */
  examples: { bodies?: Record<string, z.input<B>>; answer: z.input<R> };
  scope: Scope;
  params: P;
  query: Q;
  /** Absent: the endpoint takes no body. */
  body?: B;
  response: R;
  /** Whether it takes an `Idempotency-Key`. */
  idempotent?: boolean;
  /** Codes of its own, besides those that any endpoint can answer. */
  errors?: readonly HttpErrorCode[];
  handle(deps: HttpDeps, call: Call<z.output<P>, z.output<Q>, z.output<B>>): Promise<z.input<R> | Verbatim>;
}

export type Endpoint = EndpointSpec<z.ZodType, z.ZodType, z.ZodType, z.ZodType>;

/** Checks the types of one endpoint among themselves, then forgets them. */
export function defineEndpoint<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType>(
  spec: EndpointSpec<P, Q, B, R>,
): Endpoint {
  return spec;
}
