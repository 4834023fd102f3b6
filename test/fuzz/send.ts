import { Agent, request as open } from "node:http";

/** A call, ready for the wire. */
export interface FuzzCall {
  /** The call of the document that it was made from: `POST /v1/nfts`. */
  origin: string;
  method: string;
  /** ASCII, with its query. */
  path: string;
  headers: Record<string, string>;
  /** null: none. Latin-1, one character a byte: so that it can be printed and tried again. */
  body: string | null;
}

export interface FuzzAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** The service did not answer, or not in time. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

/** Sends calls over one connection, below the level of `fetch`, which would put much of this right by itself. */
export class Sender {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: URL;
  readonly #deadline: number;

  /** @param deadline milliseconds for one answer. */
  constructor(baseUrl: string, deadline: number) {
    this.#url = new URL(baseUrl);
    this.#deadline = deadline;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** @throws NoAnswer */
  async send(call: FuzzCall): Promise<FuzzAnswer> {
    try {
      return await this.#once(call, this.#agent);
    } catch (error) {
      // The service may close a kept connection just when the next call begins: a fresh one cannot have that.
      if (error instanceof NoAnswer) throw error;
      try {
        return await this.#once(call, new Agent());
      } catch (again) {
        throw new NoAnswer("the connection broke", { cause: again });
      }
    }
  }

  #once({ method, path, headers, body }: FuzzCall, agent: Agent): Promise<FuzzAnswer> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = this.#url;
      const request = open({ hostname, port, method, path, headers, agent });
      const timer = setTimeout(() => {
        reject(new NoAnswer(`no answer in ${this.#deadline} ms`));
        request.destroy();
      }, this.#deadline);
      request.once("response", (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.once("error", reject);
        response.once("end", () => {
          clearTimeout(timer);
          const answered = new Headers();
          for (const [name, values] of Object.entries(response.headersDistinct)) {
            for (const value of values ?? []) answered.append(name, value);
          }
          resolve({
            status: response.statusCode ?? 0,
            headers: answered,
            text: Buffer.concat(parts).toString("utf8"),
          });
        });
      });
      request.once("error", (error) => {
        clearTimeout(timer);
        reject(error);
      });
      request.end(body === null ? undefined : Buffer.from(body, "latin1"));
    });
  }
}
