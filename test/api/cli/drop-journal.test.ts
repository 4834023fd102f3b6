import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { getAddress } from "ethers";

import { advance, type BulkStep } from "../../../client/bulk-progress.ts";
import type { Shape } from "../../../client/client.ts";
import { makePlan } from "../../../client/drop/plan.ts";
import { fingerprintsOf } from "../../../client/drop-node/drop.ts";
import { readDropFolder } from "../../../client/drop-node/files.ts";
import { Journal, JOURNAL } from "../../../client/drop-node/journal.ts";
import { writeReport } from "../../../client/drop-node/report.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useFolder } from "../../support/use-folder.ts";
import { picture } from "./support/use-drop.ts";

const ADDRESS = "0x00000000000000000000000000000000000A11cE";
const NOT_KNOWN =
  "The service does not know this request, as after its restore from a backup. Look whether the collection has the token.";

function body(n: number) {
  return { collection_address: ADDRESS, to_address: ADDRESS, name: `Cat ${n.toString()}` };
}

/** As 0.3.0 writes it. */
const LINES = [
  { entry: "start", version: 1, id: "a1", fingerprint: "f", url: "http://localhost:3000", to: ADDRESS },
  { entry: "upload", sha256: "00", uri: "ipfs://cat", at: 1 },
  { entry: "batch", key: "drop-a1-0", tokens: [0, 1, 2, 3, 4], body: { items: [0, 1, 2, 3, 4].map(body) }, at: 2 },
  { entry: "refused", key: "drop-a1-0", message: "413 payload_too_large: Too large." },
  { entry: "batch", key: "drop-a1-1", tokens: [0, 1], body: { items: [0, 1].map(body) }, at: 3 },
  { entry: "results", key: "drop-a1-1", results: [{ request_id: "r0" }, { request_id: "r1" }] },
  { entry: "batch", key: "drop-a1-2", tokens: [2, 3], body: { items: [2, 3].map(body) }, at: 4 },
  {
    entry: "results",
    key: "drop-a1-2",
    results: [{ request_id: "r2" }, { error_code: "supply_exceeded", message: "It is full.", errors: null }],
  },
  { entry: "batch", key: "drop-a1-3", tokens: [4], body: { items: [body(4)] }, at: 5 },
  { entry: "refused", key: "drop-a1-3", message: "413 payload_too_large: Too large." },
  {
    entry: "outcomes",
    outcomes: [
      { token: 0, status: "completed", token_id: "7", error: null },
      { token: 1, status: "failed", token_id: null, error: "media_blocked image: Blocked." },
      { token: 2, status: "unknown", token_id: null, error: NOT_KNOWN },
    ],
  },
  { entry: "batch", key: "drop-a1-4", tokens: [5], body: { items: [body(5)] }, at: 6 },
];

const REPORT = [
  "file,token_id,request_id,status,error",
  "0.json,7,r0,completed,",
  "1.json,,r1,failed,media_blocked image: Blocked.",
  `2.json,,r2,unknown,"${NOT_KNOWN}"`,
  "3.json,,,refused,supply_exceeded: It is full.",
  "4.json,,,refused,413 payload_too_large: Too large.",
  "5.json,,,unknown,The answer of the service is not known yet.",
  "6.json,,,waiting,",
  "",
].join("\r\n");

describe("the journal of a drop", () => {
  const place = useFolder();
  const reportOf = async ({ minting: { items } }: Journal) => {
    const tokens = items.map((_item, index) => ({ source: `${index.toString()}.json`, tokenId: null }));
    return readFile(await writeReport(place.path, tokens, items), "utf8");
  };

  it("of 0.3.0 is read, and continued with the next key and the same open batch", async () => {
    await writeFile(join(place.path, JOURNAL), LINES.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const state = await Journal.read(place.path, 7);
    expect(await reportOf(state)).to.equal(REPORT);
    expect(state.minting).to.deep.include({ name: "drop-a1", batches: 5 });
    expect(state.minting.open).to.deep.equal([{ key: "drop-a1-4", items: [5], bodies: [body(5)], at: 6 }]);
    expect(state.uploads.get("00")).to.include({ uri: "ipfs://cat" });
    expect(state.finished).to.equal(false);
  });

  it("has the steps of the bulk mint, and reads them as the run had them", async () => {
    const failure = { code: "payload_too_large", message: "Too large.", errors: [], status: 413 };
    const errors = [{ field: "image", code: "blocked", message: "Blocked." }];
    const media = { code: "media_blocked", message: "The media is blocked.", errors, status: null };
    const send = (key: string, ...items: number[]): BulkStep => {
      return { step: "send", key, items, bodies: items.map(body), at: Number(key.slice(-1)) + 2 };
    };
    const full = { error_code: "supply_exceeded", message: "It is full.", errors: null };
    const steps: BulkStep[] = [
      send("drop-a1-0", 0, 1, 2, 3, 4),
      { step: "refuse", key: "drop-a1-0", failure },
      send("drop-a1-1", 0, 1),
      { step: "answer", key: "drop-a1-1", results: [{ request_id: "r0" }, { request_id: "r1" }] },
      send("drop-a1-2", 2, 3),
      { step: "answer", key: "drop-a1-2", results: [{ request_id: "r2" }, full] },
      send("drop-a1-3", 4),
      { step: "refuse", key: "drop-a1-3", failure },
      {
        step: "settle",
        outcomes: [
          { index: 0, outcome: { is: "completed", requestId: "r0", tokenId: "7" } },
          { index: 1, outcome: { is: "failed", requestId: "r1", ...media } },
          { index: 2, outcome: { is: "unknown", requestId: "r2" } },
        ],
      },
      send("drop-a1-4", 5),
    ];
    const running = await Journal.read(place.path, 7);
    await running.open();
    await running.begin({ fingerprint: "f", url: "http://localhost:3000", to: ADDRESS });
    for (const step of steps) {
      await running.write(step);
      advance(running.minting, step);
    }
    await running.again([3, 4]);
    await running.close();
    const read = await Journal.read(place.path, 7);
    expect(read.minting).to.deep.equal(running.minting);
    expect(await reportOf(read)).to.equal(await reportOf(running));
    expect(read.in("waiting")).to.deep.equal([3, 4, 6]);
  });

  for (const [name, line] of Object.entries({
    "no JSON": "{",
    "no object": "null",
    "a second start": JSON.stringify(LINES[0]),
    "no known entry": '{"entry":"other"}',
    "no known step": '{"step":"other"}',
    "a step without items": '{"step":"send","key":"k","bodies":[],"at":1}',
    "a token beyond the plan": '{"step":"again","items":[1000000000]}',
    "an upload without an address": '{"entry":"upload","sha256":"00","at":1}',
  })) {
    it(`is refused with its line when the line has ${name}`, async () => {
      await writeFile(join(place.path, JOURNAL), `${JSON.stringify(LINES[0])}\n${line}\n`);
      expect((await rejectionOf(Journal.read(place.path, 7))).message).to.match(/^Line 2 of .* is damaged/);
    });
  }

  describe("given a folder whose drop version 0.3.0 began", () => {
    const write = (name: string, text: string) => writeFile(join(place.path, name), text);
    const checksums = async () => {
      const collection = {
        ...{ address: "0x5FbDB2315678afecb367f032d93F642f64180aa3", type: "ERC721" },
        ...{ mint_supply_count: null, minted: 0, metadata_frozen: "no" },
      } as Shape<"Collection">;
      const target = { collection, to: { user: "alice" }, supply: null, copyMedia: false };
      const users = {
        wallets: new Map<string, string>(),
        similar: new Map<string, string>(),
        unknown: new Set<string>(),
      };
      return fingerprintsOf(
        makePlan(await readDropFolder(place.path, "ERC721", { readAddress: getAddress }), target, users),
      );
    };
    beforeEach(async () => {
      await mkdir(join(place.path, "images"));
      for (const number of [1, 2]) await write(`images/${number.toString()}.svg`, picture(number));
    });

    it("knows its table", async () => {
      const rows = ['1.svg,"One\nand more",,bob,', "2.svg,Two, second ,0x70997970C51812dc3A010C7d01b50e0d17dc79C8,r"];
      await write("metadata.csv", `${["file,name,description,owner,reference", ...rows].join("\n")}\n`);
      expect((await checksums())[0]).to.equal("a128ed078976a8577890ffa0f7be7f3060203c9b1adcf4154a2a3a0f4cbe5ceb");
    });

    it("knows its JSON files, also with a number that was rounded", async () => {
      await mkdir(join(place.path, "json"));
      const attributes = '[{"trait_type":"n","value":12345678901234567891}]';
      const image = "ipfs://NewUriToReplace/1.svg";
      await write(
        "json/1.json",
        `{"name":"One","description":"","image":"${image}","edition":1,"attributes":${attributes}}`,
      );
      await write("json/2.json", '{"name":"Two","animation_url":"../images/1.svg"}');
      expect((await checksums())[1]).to.equal("9f1a1a710c509541c58d637950d5c440a630e7d9463ead5d79e0482f0ec93874");
    });
  });
});
