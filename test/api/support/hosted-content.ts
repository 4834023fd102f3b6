import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { sha256 } from "multiformats/hashes/sha2";

import { importContent } from "../../../api/content/content.ts";
import { conformanceOf } from "../../support/conformance.ts";
import type { TestApi } from "./api.ts";

/** Hosted content, and calls that read it. The answers are bytes, not JSON as everywhere else. */
export class HostedContent {
  readonly #api: TestApi;

  constructor(api: TestApi) {
    this.#api = api;
  }

  async add(content: string | Uint8Array): Promise<CID> {
    return (await importContent(this.#api.blocks, once(Buffer.from(content)))).cid;
  }

  /** Calls, and checks the answer against the published document. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const answer = await this.fetchUnchecked(path, init);
    const text = await answer.clone().text();
    const { status, headers } = answer;
    const conformance = await conformanceOf(this.#api.baseUrl);
    conformance.check({ method: init.method ?? "GET", path: `/ipfs/${path}`, status, headers, text });
    return answer;
  }

  /** Calls without reading the body. */
  fetchUnchecked(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.#api.baseUrl}/ipfs/${path}`, init);
  }
}

/** Status and code of an error. */
export async function refusalOf(response: Response): Promise<[number, string]> {
  return [response.status, ((await response.json()) as { error_code: string }).error_code];
}

async function* once(content: Buffer): AsyncGenerator<Buffer> {
  await Promise.resolve();
  yield content;
}

/** The CIDs of so many different files. */
export async function contentIds(count: number): Promise<string[]> {
  const files = Array.from({ length: count }, (_, index) => Buffer.from(`file ${index.toString()}`));
  return Promise.all(files.map(async (bytes) => CID.createV1(raw.code, await sha256.digest(bytes)).toString()));
}
