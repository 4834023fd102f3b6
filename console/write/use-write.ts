import { useRef, useState } from "preact/hooks";

import { ApiRefusal, ConnectionFailed, type FieldErrors, refusalOf } from "../../client/errors.ts";
import { callOf } from "../service/client.ts";
import type { RecordedCall } from "../service/recorded-calls.ts";
import { type Attempt, attemptFor, certaintyOf } from "../forms/model/attempt.ts";
import { sentenceOf } from "../parts/sentence.ts";

export type Body = Record<string, unknown>;

/** An answer of the client. */
export interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

export type WriteState<T> =
  | { is: "editing" }
  | { is: "sending" }
  | { is: "refused"; message: string; fields: NonNullable<FieldErrors> }
  /** The service may have taken the call. */
  | { is: "unknown"; message: string }
  | { is: "taken"; data: T; call: RecordedCall | null };

export interface Write<T> {
  state: WriteState<T>;
  /** Sends the body. While a call is under way, nothing happens. */
  send: (body: Body) => Promise<WriteState<T>>;
  /** Sends the same body with the same key, after an answer that is not known. */
  again: () => Promise<WriteState<T>>;
  /** Back to the form. The next call is a new one. */
  reset: () => void;
}

/**
 * One call that writes. Its `Idempotency-Key` is kept until it is certain what became of the call: neither a double click nor
 * a repetition after a lost answer does anything twice.
 */
export function useWrite<T>(call: (body: Body, key: string) => Promise<Answer<T>>): Write<T> {
  const [state, setState] = useState<WriteState<T>>({ is: "editing" });
  const open = useRef<Attempt | null>(null);
  const running = useRef<Promise<WriteState<T>> | null>(null);

  const make = async (attempt: Attempt): Promise<WriteState<T>> => {
    const end = await outcomeOf(() => call(JSON.parse(attempt.body) as Body, attempt.key));
    if (end.is !== "unknown") open.current = null;
    setState(end);
    return end;
  };
  const start = (attempt: Attempt) => {
    if (running.current !== null) return running.current;
    open.current = attempt;
    setState({ is: "sending" });
    running.current = make(attempt).finally(() => (running.current = null));
    return running.current;
  };
  return {
    state,
    send: (body) => start(attemptFor(open.current, JSON.stringify(body))),
    again: () => (open.current === null ? Promise.resolve(state) : start(open.current)),
    reset: () => {
      open.current = null;
      setState({ is: "editing" });
    },
  };
}

async function outcomeOf<T>(call: () => Promise<Answer<T>>): Promise<WriteState<T>> {
  try {
    const { data, error, response } = await call();
    if (data !== undefined) return { is: "taken", data, call: callOf(response) };
    const refusal = refusalOf(response, error);
    const refused = certaintyOf(refusal.body === null ? null : refusal.status) === "refused";
    if (!refused) return { is: "unknown", message: sentenceOf(refusal) };
    return { is: "refused", message: refusal.body?.message ?? refusal.message, fields: refusal.fieldErrors };
  } catch (error) {
    const known = error instanceof ConnectionFailed || error instanceof ApiRefusal;
    if (!known) throw error;
    return { is: "unknown", message: sentenceOf(error) };
  }
}
