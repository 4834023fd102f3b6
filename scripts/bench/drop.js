import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { crc32, deflateSync } from "node:zlib";
import { Contract } from "ethers";
import { Program } from "../scene/program.ts";
import { sqliteFiles } from "./harness/databases.ts";
import { World } from "./harness/world.ts";
/**
 * `npm run bench:drop`: drops a folder of 1,000 tokens, each with a picture of its own, kills the command with `kill -9` in
 * the middle of the uploads and in the middle of the mints, and runs it again. It compares the chain with the folder and
 * prints the times. `--tokens N` makes another number. `--rate N` sets the service's rate limit (calls per minute).
 */
const SIDE = 128;
/** Milliseconds within which the command prints the line at which it is killed. */
const KILLED_WITHIN = 600_000;
/** A part of a PNG file, with its checksum. */
function chunk(name, data) {
    const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
}
/** A PNG picture of random grey pixels, about 16 KiB. */
function randomPicture() {
    const header = Buffer.alloc(13);
    header.writeUInt32BE(SIDE, 0);
    header.writeUInt32BE(SIDE, 4);
    header[8] = 8;
    const rows = Array.from({ length: SIDE }, () => Buffer.concat([Buffer.of(0), randomBytes(SIDE)]));
    const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    const parts = [
        chunk("IHDR", header),
        chunk("IDAT", deflateSync(Buffer.concat(rows))),
        chunk("IEND", Buffer.alloc(0)),
    ];
    return Buffer.concat([signature, ...parts]);
}
async function writeFolder(folder, tokens) {
    await mkdir(join(folder, "json"), { recursive: true });
    await mkdir(join(folder, "images"));
    for (let number = 1; number <= tokens; number++) {
        const name = number.toString();
        const attributes = [{ trait_type: "number", value: name }];
        await writeFile(join(folder, "json", `${name}.json`), JSON.stringify({ name: `Token ${name}`, attributes }));
        await writeFile(join(folder, "images", `${name}.png`), randomPicture());
    }
}
class Drop {
    #args;
    #token;
    constructor(folder, collection, { processes, token }) {
        const url = processes[0]?.url ?? "";
        this.#token = token;
        this.#args = ["drop", folder, "--collection", collection, "--user", "alice", "--url", url, "--yes"];
    }
    /** @param killAt kills the command when it prints this. */
    async run(killAt) {
        const begun = performance.now();
        const env = { PATH: process.env["PATH"], MONETA_TOKEN: this.#token };
        const drop = new Program(["api/cli/main.ts", ...this.#args], { env });
        if (killAt !== undefined) {
            await drop.printed(killAt, KILLED_WITHIN);
            drop.signal("SIGKILL");
        }
        const ended = await drop.gone();
        const { output } = drop;
        if (ended !== (killAt === undefined ? 0 : "SIGKILL")) {
            throw new Error(`the command ended with ${ended.toString()}:\n${output}`);
        }
        return { seconds: (performance.now() - begun) / 1000, output };
    }
}
/** Compares the folder's report with the chain. @throws unless each token is there once. */
async function check(world, { folder, collection, tokens }) {
    const lines = (await readFile(join(folder, "drop-report.csv"), "utf8")).trim().split("\r\n").slice(1);
    const ids = new Set(lines.filter((line) => line.includes(",completed,")).map((line) => line.split(",")[1]));
    const transfers = new Contract(collection, ["event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)"], world.node.provider);
    const events = await transfers.queryFilter("Transfer");
    const onChain = new Set(events.map(({ topics }) => BigInt(topics[3] ?? "").toString()));
    const counts = [ids.size, events.length, onChain.size];
    if (counts.some((count) => count !== tokens) || [...ids].some((id) => !onChain.has(id ?? ""))) {
        throw new Error(`tokens in the report, mints and ids on the chain: ${counts.join(", ")} instead of ${tokens.toString()}`);
    }
    console.log(`On the chain: ${events.length.toString()} mints of ${onChain.size.toString()} tokens, each in the report once.`);
}
async function main() {
    const { values } = parseArgs({ options: { tokens: { type: "string" }, rate: { type: "string" } } });
    const tokens = Number(values.tokens ?? "1000");
    const settings = values.rate === undefined ? {} : { RATE_LIMIT_PER_MINUTE: values.rate };
    const world = await World.start({ databases: sqliteFiles, settings });
    try {
        const say = (what, { seconds }) => {
            console.log(`${what}: ${seconds.toFixed(1)} s`);
        };
        for (const interrupted of [false, true]) {
            const collection = await world.collection({ description: "Hosted" });
            const folder = join(world.folder, interrupted ? "interrupted" : "whole");
            await writeFolder(folder, tokens);
            const drop = new Drop(folder, collection, world);
            if (interrupted) {
                say("Killed with kill -9 in the middle of the uploads", await drop.run(/uploaded [4-9]\d\d of/));
                say("Run again, killed in the middle of the mints", await drop.run(/sent [5-9]\d\d of/));
                say("Run again, to the end", await drop.run());
            }
            else {
                say(`${tokens.toString()} tokens, not interrupted`, await drop.run());
            }
            await check(world, { folder, collection, tokens });
            const last = await drop.run();
            if (!last.output.includes("was finished before"))
                throw new Error("a finished drop ran again");
        }
    }
    finally {
        await world.stop();
    }
}
await main();
