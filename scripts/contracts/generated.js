import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { RELEASED_CODE } from "./deployed-code.ts";
/** TypeChain's output of the last build: ABI, bytecode and types of every contract, tests and mocks included. */
export const BUILD_OUTPUT = fileURLToPath(new URL("../../types/ethers-contracts", import.meta.url));
/** The committed part of that output. The service, its scripts and `npm start` use it, so they need no compiler. */
export const GENERATED = fileURLToPath(new URL("../../contracts/generated", import.meta.url));
/** The compiler's input for the contracts that are deployed: whoever verifies them compiles exactly this. */
export const STANDARD_INPUT = "standard-input.json";
/** The contracts that are deployed to chains. The service encodes their calls, and decodes their events. */
export const DEPLOYED = [
    "Relay",
    "CollectionFactory",
    "ERC721Collection",
    "CompactERC721Collection",
    "ERC1155Collection",
    "WalletDelegate",
];
const SERVICE = [...DEPLOYED, "GasProbe"];
/** Two contracts of an outsider, which the tour of `npm start` deploys. */
const TOUR = ["mocks/PlainERC721", "mocks/PlainERC1155"];
/** Paths, relative to either folder, of the files that TypeChain makes and that are committed. */
const TYPES = ["common.ts", ...[...SERVICE, ...TOUR].flatMap((name) => [`${name}.ts`, factoryOf(name)])];
function factoryOf(name) {
    return `factories/${name}__factory.ts`;
}
/** @param types folder with TypeChain's output. @param texts see `standardInputOf` and `releasedCodeOf`. */
export async function builtFiles(types, texts) {
    const built = new Map([
        [STANDARD_INPUT, Buffer.from(texts.standardInput)],
        [RELEASED_CODE, Buffer.from(texts.releasedCode)],
    ]);
    for (const file of TYPES)
        built.set(file, await readFile(join(types, file)));
    return built;
}
/** Replaces the committed files with those of the build. */
export async function updateGenerated(built, generated) {
    await rm(generated, { recursive: true, force: true });
    for (const [file, bytes] of built) {
        await mkdir(dirname(join(generated, file)), { recursive: true });
        await writeFile(join(generated, file), bytes);
    }
}
