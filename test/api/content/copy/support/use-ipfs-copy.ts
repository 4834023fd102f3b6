import { readdir } from "node:fs/promises";
import { join } from "node:path";

import * as dagPb from "@ipld/dag-pb";
import { expect } from "chai";
import { importer } from "ipfs-unixfs-importer";
import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { sha256 } from "multiformats/hashes/sha2";

import { BlockFiles } from "../../../../../api/content/block-files.ts";
import { type CopyDeps, copyMedia } from "../../../../../api/content/copy/copy-media.ts";
import { MediaError } from "../../../../../api/outbound/download.ts";
import { createOutboundAgent } from "../../../../../api/outbound/agent.ts";
import { collect } from "../../../../support/collect.ts";
import { TrustlessGateway } from "../../../../support/trustless-gateway.ts";
import { useFolder } from "../../../../support/use-folder.ts";

export const MIB = 2 ** 20;
/** The type of a file among the nodes of UnixFS. */
const FILE = 2;

type Link = Pick<dagPb.PBLink, "Hash"> & { Tsize: number };

/** Gives each test of a `describe` block an empty block store and a gateway to copy from. */
export function useIpfsCopy(): IpfsCopyFixture {
  const folder = useFolder();
  const fixture = new IpfsCopyFixture(folder);
  before("start the gateway", () => fixture.gateway.start());
  beforeEach("empty the gateway", () => fixture.reset());
  after("stop the gateway", () => fixture.close());
  return fixture;
}

class IpfsCopyFixture {
  readonly gateway = new TrustlessGateway();
  readonly #strict = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: false });
  readonly #local = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: true });
  readonly #folder: { readonly path: string };
  deps!: CopyDeps;

  constructor(folder: { readonly path: string }) {
    this.#folder = folder;
  }

  /** For `useIpfsCopy` only, as `close`. */
  reset(): void {
    this.gateway.asked.length = 0;
    this.gateway.blocks.clear();
    this.gateway.instead = null;
    this.deps = {
      blocks: new BlockFiles(this.folder),
      agent: this.#strict,
      gateway: { url: this.gateway.url, agent: this.#local },
      maxBytes: 20 * MIB,
      deadline: 60_000,
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#strict.destroy(), this.#local.destroy()]);
    await this.gateway.stop();
  }

  get folder(): string {
    return this.#folder.path;
  }

  copy(cid: CID | string) {
    return copyMedia(this.deps, { url: `ipfs://${cid.toString()}`, use: "any" }, new AbortController().signal);
  }

  /** Copies. @returns error code and message; "copied" as the code without an error, "fault" for an error of the service. */
  problem(cid: CID | string): Promise<string[]> {
    return this.copy(cid).then(
      () => ["copied", ""],
      (error: unknown) => (error instanceof MediaError ? [error.errorCode, error.message] : ["fault", String(error)]),
    );
  }

  /** The files in the block store, drafts included. */
  async files(): Promise<string[]> {
    const entries = await readdir(this.folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  }

  async expectNoFiles(): Promise<void> {
    expect(await this.files()).to.deep.equal([]);
  }

  /** Adds a block to the gateway. */
  async block(bytes: Uint8Array, code: number = raw.code): Promise<CID> {
    const cid = CID.createV1(code, await sha256.digest(bytes));
    this.gateway.add(cid, bytes);
    return cid;
  }

  /** Adds a node of UnixFS. Its protobuf is encoded by hand, so that it can declare any size. */
  node(links: Link[], type: number, sizes: number[], data = ""): Promise<CID> {
    const total = sizes.reduce((sum, size) => sum + size, data.length);
    const fields = [0x08, type, ...(data === "" ? [] : [0x12, ...varint(data.length), ...Buffer.from(data)])];
    const Data = Uint8Array.from([
      ...fields,
      ...[0x18, ...varint(total)],
      ...sizes.flatMap((size) => [0x20, ...varint(size)]),
    ]);
    return this.block(dagPb.encode({ Data, Links: links.map((link) => ({ Name: "", ...link })) }), dagPb.code);
  }

  fileOf(links: Link[], sizes: number[]): Promise<CID> {
    return this.node(links, FILE, sizes);
  }

  /** Adds content as other implementations and older versions encode it. @returns the root. */
  async published(
    entries: { path?: string; content: Uint8Array }[],
    options: Parameters<typeof importer>[2] = {},
  ): Promise<CID> {
    const sink = {
      put: async (cid: CID, bytes: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>) => {
        const parts: Uint8Array[] = [];
        if (bytes instanceof Uint8Array) parts.push(bytes);
        else for await (const part of bytes) parts.push(part);
        this.gateway.add(cid, Buffer.concat(parts));
        return cid;
      },
    };
    return (await collect(importer(entries, sink, options))).at(-1)!.cid;
  }
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}
