import { randomUUID } from "node:crypto";

import { TourError } from "./check.ts";

/** Calls the API with one app's token. */
export class ApiClient {
  readonly #baseUrl: string;
  readonly #token: string;
  readonly #signal: AbortSignal;

  constructor(baseUrl: string, token: string, signal: AbortSignal) {
    this.#baseUrl = baseUrl;
    this.#token = token;
    this.#signal = signal;
  }

  get<T>(path: string): Promise<T> {
    return this.#call<T>("GET", path);
  }

  /** Should the connection break, the same call with the same Idempotency-Key is safe to repeat. */
  post<T>(path: string, body: unknown): Promise<T> {
    return this.#call<T>("POST", path, body, { "Idempotency-Key": randomUUID() });
  }

  put<T>(path: string, body: unknown): Promise<T> {
    return this.#call<T>("PUT", path, body);
  }

  async delete(path: string): Promise<void> {
    await this.#call("DELETE", path);
  }

  async #call<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
    const response = await fetch(this.#baseUrl + path, {
      method,
      headers: { Authorization: `Bearer ${this.#token}`, "Content-Type": "application/json", ...headers },
      body: body === undefined ? null : JSON.stringify(body),
      signal: this.#signal,
    });
    const text = await response.text();
    if (!response.ok) throw new TourError(`${method} ${path} was refused: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }
}
