import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { getAddress } from "ethers";

import type { Shape } from "../../../client/client.ts";
import { makePlan } from "../../../client/drop/plan.ts";
import { fingerprintsOf } from "../../../client/drop-node/drop.ts";
import { readDropFolder } from "../../../client/drop-node/files.ts";
import { Journal, JOURNAL } from "../../../client/drop-node/journal.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useFolder } from "../../support/use-folder.ts";
import { picture } from "./support/use-drop.ts";

const RUN = { fingerprint: "f", url: "http://localhost:3000", to: "0x00000000000000000000000000000000000A11cE" };
const START = JSON.stringify({ entry: "start", version: 1, id: "a1", ...RUN });

describe("the journal of a drop", () => {
  const place = useFolder();

  for (const [name, line] of Object.entries({
    "no JSON": "{",
    "no object": "null",
    "a second start": START,
    "no known entry": '{"entry":"other"}',
    "no known step": '{"step":"other"}',
    "a step without items": '{"step":"send","key":"k","bodies":[],"at":1}',
    "a token beyond the plan": '{"step":"again","items":[1000000000]}',
    "an upload without an address": '{"entry":"upload","sha256":"00","at":1}',
  })) {
    it(`is refused with its line when the line has ${name}`, async () => {
      await writeFile(join(place.path, JOURNAL), `${START}\n${line}\n`);
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
