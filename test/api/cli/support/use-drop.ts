import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Shape } from "../../../../client/client.ts";
import type { SharedFixture } from "../../../support/use-service.ts";
import { useFolder } from "../../../support/use-folder.ts";
import { useService } from "../../../support/use-service.ts";
import { type Ran, runCli } from "./run.ts";

interface Result {
  state: string;
  tokens: number;
  files: number;
  problems: { source: string; message: string }[];
  ignored_fields: string[];
  completed: number;
  failed: number;
  unknown: number;
  token_ids?: string | null;
}

/** Gives each test of a `describe` block an empty folder, a new ERC721 collection, and the command `drop` from one to the other. */
export function useDrop(): DropFixture {
  const moneta = useService();
  const fixture = new DropFixture(moneta, useFolder());
  beforeEach("create a collection", async () => {
    fixture.url = moneta.baseUrl;
    fixture.collection = await moneta.api.collection({ type: "ERC721" });
  });
  return fixture;
}

class DropFixture {
  readonly moneta: SharedFixture;
  readonly place: { readonly path: string };
  collection = "";
  /** Of the service. */
  url = "";

  constructor(moneta: SharedFixture, place: { readonly path: string }) {
    this.moneta = moneta;
    this.place = place;
  }

  get env(): Record<string, string> {
    return { MONETA_TOKEN: this.moneta.app.token };
  }

  /** The command line, to the user `alice` unless it has another receiver. */
  readonly words = (...more: string[]): string[] => [
    ...this.wordsToNobody(),
    ...(more.includes("--to") || more.includes("--user") ? more : ["--user", "alice", ...more]),
  ];

  readonly wordsToNobody = (...more: string[]): string[] => {
    return ["drop", this.place.path, "--collection", this.collection, "--url", this.url, ...more];
  };

  readonly run = (...more: string[]): Promise<Ran> => runCli(this.env, ...this.words(...more));

  readonly json = async (...more: string[]): Promise<Result & { exit: number }> => {
    const { output, failed } = await this.run(...more, "--json");
    return { ...(JSON.parse(output) as Result), exit: failed ? 1 : 0 };
  };

  readonly minted = async (): Promise<Shape<"Nft">[]> => {
    const { nfts } = await this.moneta.api.ok<{ nfts: Shape<"Nft">[] }>("GET", `/v1/collections/${this.collection}`);
    return nfts;
  };

  readonly mintedNames = async () => (await this.minted()).map(({ metadata }) => metadata?.name).sort();

  /** The lines of the report. */
  readonly report = async (): Promise<string[]> => {
    return (await readFile(join(this.place.path, "drop-report.csv"), "utf8")).trim().split("\r\n");
  };

  /** Writes `json/N.json` with `images/N.svg` for N from 1. */
  async writeJsonLayout(count: number): Promise<void> {
    const folder = this.place.path;
    await mkdir(join(folder, "json"), { recursive: true });
    await mkdir(join(folder, "images"), { recursive: true });
    for (let number = 1; number <= count; number++) {
      const name = number.toString();
      const metadata = {
        name: `Cat ${name}`,
        // What generators leave there.
        image: `ipfs://NewUriToReplace/${name}.svg`,
        edition: number,
        attributes: [{ trait_type: "number", value: name }],
      };
      await writeFile(join(folder, "json", `${name}.json`), JSON.stringify(metadata));
      await writeFile(join(folder, "images", `${name}.svg`), picture(number));
    }
  }
}

/** A different picture for each number. */
export function picture(number: number): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9">${number.toString()}</text></svg>`;
}
