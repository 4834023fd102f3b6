import type { Response } from "express";

/**
 * A value that each call has. It is a property of the response's `locals`. A `WeakMap` would do the same, but V8 keeps what is
 * in one until its next collection of old objects, and with it all that belongs to the call: each collection of young objects
 * then copies all calls since the last one, and takes ten times as long.
 */
export class CallValue<Value> {
  readonly #key = Symbol();

  get({ locals }: Response): Value | undefined {
    return (locals as Record<symbol, Value | undefined>)[this.#key];
  }

  set({ locals }: Response, value: Value): void {
    (locals as Record<symbol, Value | undefined>)[this.#key] = value;
  }
}
