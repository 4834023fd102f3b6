import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A different picture for each number. */
export function picture(number: number): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9">${number.toString()}</text></svg>`;
}

/** Writes `json/N.json` with `images/N.svg` for N from 1. */
export async function writeJsonLayout(folder: string, count: number): Promise<void> {
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
