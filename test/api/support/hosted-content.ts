import type { CID } from "multiformats/cid";

import { importContent } from "../../../api/content/content.ts";
import { conformanceOf } from "../../support/conformance.ts";
import type { TestApi } from "./api.ts";
import { blockOf, streamOf } from "./content.ts";

/** Hosted content, and calls that read it. The answers are bytes, not JSON as everywhere else. */
export class HostedContent {
  readonly #api: TestApi;

  constructor(api: TestApi) {
    this.#api = api;
  }

  async add(content: string | Uint8Array): Promise<CID> {
    return (await importContent(this.#api.blocks, streamOf(Buffer.from(content)))).cid;
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

/** The CIDs of so many different files. */
export async function contentIds(count: number): Promise<string[]> {
  const blocks = await Promise.all(Array.from({ length: count }, (_, index) => blockOf(`file ${index.toString()}`)));
  return blocks.map(({ cid }) => cid.toString());
}
