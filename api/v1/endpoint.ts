import type { Request, Response } from "express";
import type { z } from "zod";

import type { Scope } from "../commands/api-tokens.ts";
import type { Credential } from "../commands/credential.ts";
import type { Caller } from "../commands/idempotency.ts";
import type { SentFile } from "../commands/upload-media.ts";
import type { HttpErrorCode } from "../domain/error-codes.ts";
import type { Identity, SessionIdentity } from "./authenticate.ts";
import type { HttpDeps } from "./deps.ts";
import { none, noQuery } from "./schemas/params.ts";

/** A call that has passed authentication, the scope check and validation. */
export interface Call<P, Q, B> extends Caller {
  /** Scopes of the caller's token or session. */
  scopes: readonly Scope[];
  /** The caller's console session; null when the caller has a token. */
  session: SessionIdentity | null;
  params: P;
  query: Q;
  body: B;
  /** The body of an endpoint that takes a file; null for all others. */
  file: SentFile | null;
}

/** A call that concerns no single app. */
type ServiceCall<P, Q, B> = Omit<Call<P, Q, B>, "appId">;

/** Who may call an endpoint: every token and session, every console session, only the operator's, or everybody. */
type AllowedCaller = "any" | "session" | "operator" | "public";

/** The call and its answer in HTTP, for the few endpoints that read or set more than the rest of their call says. */
export interface Exchange {
  request: Request;
  response: Response;
}

/** An answer that is already JSON text: a repeated call gets the first answer byte for byte. */
export class Verbatim {
  readonly json: string;
  /** For the `Retry-After` header; null: none. */
  readonly retryAfter: number | null;

  constructor(json: string, retryAfter: number | null = null) {
    this.json = json;
    this.retryAfter = retryAfter;
  }
}

/** The handler has sent the answer. */
export const SENT = Symbol("sent");

/** A call that asked for server-sent events. */
export type StreamCall<Q> = Identity & { appId: string; credential: Credential; query: Q };

/** How an endpoint answers with server-sent events. */
interface EventStreamSpec<Q> {
  /** An example for the document. */
  example: string;
  /** Sends the answer, and returns while the stream stays open. */
  open(deps: HttpDeps, request: Request, response: Response, call: StreamCall<Q>): Promise<void>;
}

/**
 * One endpoint under `/v1`: its inputs, its answer and its handler. Routing, validation and the published document are
 * all made from it.
 */
interface EndpointSpec<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  C = Call<z.output<P>, z.output<Q>, z.output<B>>,
> {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** Express path under `/v1`. */
  path: string;
  summary: string;
  /** Operation id in the document. Generated clients use it as a name. */
  name: string;
  /** Further details for the caller, in Markdown. */
  description?: string;
  /** Examples for the document: accepted bodies, each under a title, and an answer. */
  examples: { bodies?: Record<string, z.input<B>>; answer: z.input<R> };
  /** Null: no scope is needed. */
  scope: Scope | null;
  /** By default any. */
  caller?: AllowedCaller;
  /** Whether it concerns no single app. Then the operator's session needs no `X-Moneta-App`. */
  withoutApp?: boolean;
  /** By default the path has no parts that vary. */
  params?: P;
  /** By default the endpoint takes no parameters. */
  query?: Q;
  /** Absent when the endpoint takes no body. */
  body?: B;
  /** Whether the body is a file instead of JSON. */
  takesFile?: boolean;
  response: R;
  /** The same answer as server-sent events, for callers who accept `text/event-stream`. */
  stream?: EventStreamSpec<z.output<Q>>;
  /** Whether it takes an `Idempotency-Key`. */
  idempotent?: boolean;
  /** Whether its body has many items. Such bodies have a limit of their own, and few of them are handled at a time. */
  batch?: boolean;
  /** Whether the node runs the code of strangers to answer it. Few of such calls are handled at a time. */
  runsForeignCode?: boolean;
  /** Whether its answer is a file of rows, which its handler sends. Then `response` and the example are those of one row. */
  sendsRows?: boolean;
  /** Whether it only reads one small row. Such calls need no place among those that read. */
  isSmall?: boolean;
  /** Error codes of this endpoint, in addition to those of every endpoint. */
  errors?: readonly HttpErrorCode[];
  handle(deps: HttpDeps, call: C, exchange: Exchange): Promise<z.input<R> | Verbatim | typeof SENT>;
}

type AnySpec = EndpointSpec<z.ZodType, z.ZodType, z.ZodType, z.ZodType>;
export type Endpoint = AnySpec & Required<Pick<AnySpec, "params" | "query">>;

const NO_INPUTS = { params: none, query: noQuery };

/** Checks that the types of one endpoint fit together, then erases them. */
export function defineEndpoint<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType>(
  spec: EndpointSpec<P, Q, B, R>,
): Endpoint {
  return { ...NO_INPUTS, ...spec };
}

/** The same for an endpoint that concerns no single app. It is not for tokens, which belong to an app. */
export function defineServiceEndpoint<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
>(spec: ServiceEndpointSpec<P, Q, B, R>): Endpoint {
  return defineEndpoint<P, Q, B, R>({ ...spec, withoutApp: true });
}

type ServiceEndpointSpec<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> = Omit<
  EndpointSpec<P, Q, B, R, ServiceCall<z.output<P>, z.output<Q>, z.output<B>>>,
  "stream" | "withoutApp"
> & { caller: Exclude<AllowedCaller, "any"> };
