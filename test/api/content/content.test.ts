import { createCipheriv, createHash } from "node:crypto";

import { expect } from "chai";
import type { CID } from "multiformats/cid";

import { BlockFiles } from "../../../api/content/block-files.ts";
import { parseCid } from "../../../api/content/cids.ts";
import { findFile, importContent, importDirectory } from "../../../api/content/content.ts";
import { collect } from "../../support/collect.ts";
import { useFolder } from "../../support/use-folder.ts";
import { streamOf } from "../support/content.ts";

const MIB = 1_048_576;

/** Kubo's vectors generate their content as a ChaCha20 key stream. The key is the hash of a seed. */
async function* keyStream(size: number, seed: string): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  const cipher = createCipheriv("chacha20", createHash("sha256").update(seed).digest(), Buffer.alloc(16));
  const zeros = Buffer.alloc(MIB);
  for (let left = size; left > 0; left -= MIB) yield cipher.update(zeros.subarray(0, Math.min(left, MIB)));
}

/** File names of Kubo's vectors: one of length `last` after others of length 11. */
async function names(count: number, last: number): Promise<string[]> {
  const alphabet = "abcdefghijklmnopqrstuvwxyz01234567890-_";
  const stream: number[] = [];
  for await (const part of keyStream(MIB, "hamt-unixfs-v1-2025")) stream.push(...part.subarray(0, 60_000));
  let at = 0;
  return Array.from({ length: count }, (_, index) => {
    const length = index === count - 1 ? last : 11;
    const name = stream.slice(at, at + length).map((byte) => alphabet[byte % alphabet.length]);
    at += length;
    return name.join("");
  });
}

describe("content", () => {
  const folder = useFolder();
  let blocks: BlockFiles;
  beforeEach(() => {
    blocks = new BlockFiles(folder.path);
  });

  const read = async (cid: CID, path = "", offset?: number, length?: number) => {
    const file = await findFile(blocks, cid, path);
    if (file === null) return null;
    return Buffer.concat(await collect(file.read(offset, length)));
  };

  describe("has the CIDs of Kubo's public vectors (profile unixfs-v1-2025)", () => {
    const discard = { put: () => Promise.resolve() };
    const files: [string, () => AsyncIterable<Uint8Array>, string][] = [
      [
        "hello world",
        () => streamOf(Buffer.from("hello world")),
        "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e",
      ],
      ["nothing", () => streamOf(new Uint8Array()), "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"],
      [
        "one block",
        () => keyStream(MIB, "chunk-v1-seed"),
        "bafkreiacndfy443ter6qr2tmbbdhadvxxheowwf75s6zehscklu6ezxmta",
      ],
      [
        "one byte more",
        () => keyStream(MIB + 1, "chunk-v1-seed"),
        "bafybeigmix7t42i6jacydtquhet7srwvgpizfg7gjbq7627d35mjomtu64",
      ],
      [
        "as many links as a node has",
        () => keyStream(1024 * MIB, "v1-2025-seed"),
        "bafybeihmf37wcuvtx4hpu7he5zl5qaf2ineo2lqlfrapokkm5zzw7zyhvm",
      ],
      [
        "one byte more than that",
        () => keyStream(1024 * MIB + 1, "v1-2025-seed"),
        "bafybeibdsi225ugbkmpbdohnxioyab6jsqrmkts3twhpvfnzp77xtzpyhe",
      ],
    ];
    it("of files", async () => {
      for (const [name, content, cid] of files)
        expect((await importContent(discard, content())).cid.toString(), name).to.equal(cid);
    }).timeout(120_000);

    it("of the largest plain directory, and of one that is a byte larger", async () => {
      const content = Buffer.from("x");
      for (const [last, cid] of [
        [21, "bafybeic3h7rwruealwxkacabdy45jivq2crwz6bufb5ljwupn36gicplx4"],
        [22, "bafybeiegvuterwurhdtkikfhbxcldohmxp566vpjdofhzmnhv6o4freidu"],
      ] as const) {
        const entries = await names(4766, last);
        const root = await importDirectory(discard, streamOf(...entries.map((path) => ({ path, content }))));
        expect(root.toString()).to.equal(cid);
      }
    });
  });

  it("finds files in directories, also in directories larger than one block", async () => {
    const pathOf = (id: string) => `${id.padStart(64, "0")}.json`;
    const ids = Array.from({ length: 3_000 }, (_, index) => (index + 1).toString());
    const files = ids.map((id) => ({ path: pathOf(id), content: Buffer.from(id) }));
    const cid = await importDirectory(blocks, streamOf(...files));
    expect((await read(cid, pathOf("17")))?.toString()).to.equal("17");
    expect((await read(cid, pathOf("2999")))?.toString()).to.equal("2999");
    expect(await read(cid, "18")).to.equal(null);
    expect(await read(cid, "../17")).to.equal(null);
    expect(await read(cid)).to.equal(null);
  });
});

describe("parseCid", () => {
  it("accepts versions 0 and 1 in any base", () => {
    const forms = [
      "QmXxSDCDe6Vc47Lp5YpgHuXmDuP2YAgmUYNvxFT2SrRyTz",
      "bafybeietjovlsd6htljikk7ch4ev6nqiawg24mqf5t3nj6xtiuiydhk6w4",
    ];
    expect(parseCid(forms[0]!)?.toV1().toString()).to.match(/^bafybei/);
    expect(parseCid(forms[1]!)).to.not.equal(null);
  });

  it("refuses CIDs that this service never stores", () => {
    for (const text of [
      "",
      "cats",
      "../../etc/passwd",
      "b".repeat(500),
      // "identity": the CID contains its content.
      "bafkqaaa",
      "bafkqadtimvwgy3zao5xxe3debi",
      // dag-cbor
      "bafyreihdb57fdysx5h35urvxz64ros7zvywshber7id6t6c6fek37jgyfe",
    ]) {
      expect(parseCid(text), text).to.equal(null);
    }
  });
});
