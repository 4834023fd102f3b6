import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { createContext, runInContext } from "node:vm";

import { expect } from "chai";
import { build, transform } from "esbuild";
import ts from "typescript";

import { SIZE_LIMITS, sizeOfClient } from "../../../scripts/client/size.ts";
import { useFolder } from "../../support/use-folder.ts";
import { ROOT } from "../../support/process.ts";
import { useService } from "../../support/use-service.ts";
import { installClient, machineEnvironment, type ProgramEnd, runProgram, snippetsOf } from "./support.ts";

const README = "client/README.md";
/** What the examples of the docs comments build on. */
const EXAMPLES_KNOW = `
import { answerOf, ApiRefusal, ConnectionFailed, createClient, RequestFailed, RequestTimeout, type Shape, verifyWebhook, WebhookRefused } from "@moneta/client";
import { checkArrivals, checkReceivers, type Folder, type FolderContents, FolderProblem, lackOfRoom, lookUpUsers, makePlan, type Plan, plannedTokens, readFolder, type Target, textNames, textOfBytes, usersOf } from "@moneta/client/drop";
import { checkDrop, type DropOptions, DropStopped, runDrop } from "@moneta/client/drop-node";
import { advance, type BulkItems, BulkMint, bulkMint, type BulkProgress, type BulkStep, BulkStopped, itemsIn, newProgress } from "@moneta/client/bulk";
declare const client: import("@moneta/client").Client;
declare const items: BulkItems, progress: BulkProgress, run: BulkMint, steps: BulkStep[];
declare const request: Request;
declare const contents: FolderContents, options: DropOptions, plan: Plan, target: Target, files: Map<string, Uint8Array>, folder: Folder;
declare const collection: string, orderId: string, requestId: string, secret: string;
`;
/** Exports that `openapi-typescript` names: the types of the document. */
const OF_DOCUMENT = ["components", "operations", "paths", "webhooks"];
const BROWSER_OPTIONS = { module: "esnext", moduleResolution: "bundler", lib: ["es2022", "dom"], types: [] } as const;

describe("the client as a package", () => {
  const fixture = useService();

  const folder = useFolder({ per: "block" });
  let app: string;
  let tarball: string;
  let files: string[];
  before("install the package in an empty folder", async () => {
    ({ app, tarball, files } = await installClient(folder.path));
  });

  /** The README block that contains the text, with the address and the token of the running service. */
  async function snippet(mark: string): Promise<string> {
    const block = (await snippetsOf(README, "ts")).find((text) => text.includes(mark));
    return block!.replace("http://localhost:3000", fixture.baseUrl).replace("moneta_...", fixture.app.token);
  }

  it("has the compiled files and their types, and nothing else", () => {
    const sources = files.filter((path) => !path.startsWith("dist/"));
    expect(sources).to.deep.equal(["LICENSE", "README.md", "package.json"]);
    const built = files.filter((path) => path.startsWith("dist/"));
    expect(built.every((path) => /^dist\/((drop|drop-node|rules)\/)?[a-z-]+(\.d\.ts|\.js)$/.test(path))).to.equal(true);
    expect(built).to.include.members([
      "dist/entry.js",
      "dist/entry.d.ts",
      "dist/bulk-entry.js",
      "dist/bulk-entry.d.ts",
      "dist/drop-entry.js",
      "dist/drop-entry.d.ts",
      "dist/drop-node-entry.js",
      "dist/drop-node-entry.d.ts",
    ]);
  });

  it("is no larger than its limits", async () => {
    const size = await sizeOfClient(tarball, "@moneta/client", app);
    expect(size.packed, "packed").to.be.within(1, SIZE_LIMITS.packed);
    expect(size.browser, "in a browser").to.be.within(1, SIZE_LIMITS.browser);
  });

  describe("the docs comments of its exports", () => {
    let entries: DocumentedExport[];
    before(() => {
      const dist = join(app, "node_modules/@moneta/client/dist");
      entries = ["entry.d.ts", "bulk-entry.d.ts", "drop-entry.d.ts", "drop-node-entry.d.ts"].flatMap((entry) =>
        documentedExports(join(dist, entry)),
      );
    });

    it("exist for each export, with an example for what a program calls or catches", () => {
      const own = entries.filter(({ name }) => !OF_DOCUMENT.includes(name));
      expect(own.filter(({ text }) => text === "").map(({ name }) => name)).to.deep.equal([]);
      const used = own.filter(({ isValue, name }) => isValue || name === "Client");
      expect(used.map(({ name }) => name)).to.include.members([
        "createClient",
        "verifyWebhook",
        "RequestFailed",
        "bulkMint",
      ]);
      expect(used.filter(({ examples }) => examples.length === 0).map(({ name }) => name)).to.deep.equal([]);
    });

    it("have examples for the helpers of the client", () => {
      const helpers = entries.find(({ name }) => name === "Client")?.members;
      const names = ["waitFor", "mintAndWait", "getOrCreateWallet", "events", "uploadMedia"];
      expect(helpers).to.have.all.keys(...names, "exportHolders", "exportWallets");
      for (const [name, examples] of Object.entries(helpers ?? {})) expect(examples, name).to.not.be.empty;
    });

    it("have examples that pass `tsc --strict`", async () => {
      const examples = entries.flatMap(({ examples: own, members }) => [...own, ...Object.values(members).flat()]);
      expect(examples.length).to.be.greaterThan(10);
      const files = examples.map((example, index) => ({ file: `example-${index.toString()}.ts`, example }));
      for (const { file, example } of files) await writeFile(join(app, file), `${EXAMPLES_KNOW}{\n${example}\n}\n`);
      expectClean(
        await compile(
          app,
          BROWSER_OPTIONS,
          files.map(({ file }) => file),
        ),
      );
    });
  });

  it("reads a folder on the machine's Node, and says what that Node cannot do", async () => {
    const collection = await fixture.api.collection({ type: "ERC721" });
    await mkdir(join(app, "cats/json"), { recursive: true });
    await writeFile(join(app, "cats/1.svg"), "<svg xmlns='http://www.w3.org/2000/svg'/>");
    await writeFile(
      join(app, "drop.js"),
      `import { readFolder } from "@moneta/client/drop";
       import { checkDrop, DropStopped, runDrop } from "@moneta/client/drop-node";
       const text = '{"name":"A","attributes":[{"trait_type":"n","value":12345678901234567891}]}';
       const names = ["json/1.json", "images/1.png"];
       const { tokens, problems } = readFolder({ names, textOf: () => ({ text }), type: "ERC721" });
       console.log(tokens.length === 1 ? JSON.stringify(tokens[0].metadata.attributes[0].value) : problems[0].message);
       const options = { folder: "cats", url: "${fixture.baseUrl}", token: "${fixture.app.token}", collection: "${collection}", to: { user: "cats" } };
       const { plan } = await checkDrop(options);
       console.log(plan.tokens.length, plan.problems.length);
       const { items } = await runDrop(options).catch((error) => {
         if (!(error instanceof DropStopped)) throw error;
         return { items: [{ is: error.message }] };
       });
       console.log(items[0].is);`,
    );
    const lines = async (env: NodeJS.ProcessEnv) =>
      (await runProgram("node", ["drop.js"], { cwd: app, env })).output.trim().split("\n");
    const [major = 0] = (await runProgram("node", ["--version"], { cwd: app, env: machineEnvironment() })).output
      .slice(1)
      .split(".")
      .map(Number);
    expect(await lines(machineEnvironment())).to.deep.equal(
      major < 22
        ? [
            "This version of Node or of the browser would round a number with so many digits. Use Node 22 or a newer browser, or write the number as a text.",
            "1 0",
            "A drop needs Node 22.13 or newer: it locks its folder with node:sqlite.",
          ]
        : ["12345678901234567891", "1 0", "completed"],
    );
    const own = { PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}` };
    expect(await lines(own)).to.deep.equal(["12345678901234567891", "1 0", "completed"]);
  });

  // What the other snippets do is tested with the sources, in `readme.test.ts`: the package has the same code without types.
  describe("the snippets of its README", () => {
    for (const [title, options] of [
      ["with the module resolution of Node, without the types of a browser", { module: "nodenext", types: ["node"] }],
      ["with the module resolution of a bundler, without the types of Node", BROWSER_OPTIONS],
    ] as const) {
      it(`pass \`tsc --strict\` ${title}`, async () => {
        const entries = await Promise.all(
          (await snippetsOf(README, "ts")).map(async (text, index) => {
            const file = `${options.module}-${index}.ts`;
            await writeFile(join(app, file), text);
            return file;
          }),
        );
        expectClean(await compile(app, options, entries));
      });
    }

    it("fail `tsc --strict` when a field has another name", async () => {
      await writeFile(
        join(app, "wrong.ts"),
        (await snippet("waitFor")).replace("collection_address:", "collection_adress:"),
      );
      const { code, output } = await compile(app, BROWSER_OPTIONS, ["wrong.ts"]);
      expect(code).to.not.equal(0);
      expect(output).to.contain("'collection_adress' does not exist");
    });

    it("create a wallet, a collection and a token on the machine's Node", async () => {
      await writeFile(join(app, "snippet.js"), await withoutTypes(await snippet("waitFor")));
      const ended = await runProgram("node", ["snippet.js"], { cwd: app, env: machineEnvironment() });
      expectClean(ended);
      expect(ended.output).to.match(/^Alice has token 1 of 0x[0-9a-fA-F]{40}\.\n$/);
    });
  });

  it("is bundled for browsers, and calls the service from code that sees no part of Node", async () => {
    const { outputFiles, warnings } = await build({
      stdin: { contents: 'export * from "@moneta/client";', resolveDir: app },
      bundle: true,
      // A built-in module of Node would be an error.
      platform: "browser",
      format: "iife",
      globalName: "moneta",
      write: false,
      logLevel: "silent",
    });
    expect(warnings).to.deep.equal([]);
    const page = createContext({
      ...{ fetch, Request, Response, Headers, FormData, URL, URLSearchParams, AbortController, AbortSignal },
      ...{ DOMException, TextEncoder, TextDecoder, crypto, atob, setTimeout, clearTimeout, performance },
    });
    runInContext(outputFiles[0]!.text, page);
    const options = JSON.stringify({ baseUrl: fixture.baseUrl, token: fixture.app.token });
    const call = `moneta.answerOf(moneta.createClient(${options}).POST("/v1/accounts", { body: {} }))`;
    expect(await (runInContext(call, page) as Promise<unknown>)).to.have.property("address");
  });
});

interface DocumentedExport {
  name: string;
  /** Whether it exists when a program runs. */
  isValue: boolean;
  text: string;
  examples: string[];
  /** The examples of the methods that an interface has of its own. */
  members: Record<string, string[]>;
}

/** What the declarations of a package export, with the docs comments. */
function documentedExports(entry: string): DocumentedExport[] {
  const program = ts.createProgram([entry], { module: ts.ModuleKind.NodeNext, types: [], lib: ["lib.es2022.d.ts"] });
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(entry)!);
  const examplesOf = (symbol: ts.Symbol) =>
    symbol.getJsDocTags(checker).flatMap((tag) => {
      if (tag.name !== "example") return [];
      return ts.displayPartsToString(tag.text).replace(/^```ts\n|\n```$/g, "");
    });
  return checker.getExportsOfModule(module!).map((exported) => {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    const members = [...(symbol.members?.values() ?? [])].filter(({ flags }) => flags & ts.SymbolFlags.Method);
    return {
      name: exported.name,
      isValue: (symbol.flags & ts.SymbolFlags.Value) !== 0,
      text: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
      examples: examplesOf(symbol),
      members: Object.fromEntries(members.map((member) => [member.name, examplesOf(member)])),
    };
  });
}

interface CompilerOptions {
  module: string;
  moduleResolution?: string;
  lib?: readonly string[];
  types: readonly string[];
}

/** Runs `tsc --strict` on files of the app, the declarations of the package included. */
async function compile(app: string, options: CompilerOptions, files: string[]): Promise<ProgramEnd> {
  const { lib = ["es2022"], ...others } = options;
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, target: "es2022", lib, noEmit: true },
    ...others,
    typeRoots: [join(ROOT, "node_modules/@types")],
  };
  await writeFile(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  return runProgram(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", app], { cwd: app });
}

async function withoutTypes(source: string): Promise<string> {
  return (await transform(source, { loader: "ts" })).code;
}

function expectClean({ code, output, errors }: ProgramEnd): void {
  expect(code, output + errors).to.equal(0);
}
