import { appendFile, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import type { Shape } from "../../../client/client.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { randomAddress } from "../support/rows.ts";
import { jsonOfCli, runCli } from "./support/run.ts";
import { picture, useDrop } from "./support/use-drop.ts";

type Wallet = Shape<"Wallet">;

describe("command line: drop", () => {
  const drop = useDrop();
  const { moneta, place, words, wordsToNobody, run, json, minted, report } = drop;

  const problems = async (...more: string[]) => {
    const result = await json(...more);
    expect(result).to.include({ state: "problems", exit: 1 });
    return result.problems.map(({ source, message }) => `${source}: ${message}`);
  };

  describe("given json/ and images/", () => {
    beforeEach(() => drop.writeJsonLayout(3));

    it("checks everything and sends nothing without --yes", async () => {
      expect(await json()).to.deep.include({
        ...{ state: "checked", exit: 0, tokens: 3, files: 3, problems: [] },
        ignored_fields: ["edition"],
      });
      expect(await minted()).to.deep.equal([]);
      expect((await moneta.api.send("GET", "/v1/accounts/user/alice")).status).to.equal(404);
    });

    it("refuses a frozen collection before it sends anything", async () => {
      await moneta.api.settled(await moneta.api.accept(`/v1/collections/${drop.collection}/freeze`, {}));
      const refusal =
        "collection: The metadata of the collection is frozen, so no new token can be minted into it. Choose another collection.";
      expect(await problems()).to.deep.equal([refusal]);
      expect(await problems("--yes")).to.deep.equal([refusal]);
      expect((await moneta.api.send("GET", "/v1/accounts/user/alice")).status).to.equal(404);
    });

    it("uploads, mints and reports, and says so when it is run again", async () => {
      expect(await json("--yes")).to.include({ state: "finished", completed: 3, failed: 0, exit: 0 });
      const tokens = await minted();
      expect(await drop.mintedNames()).to.deep.equal(["Cat 1", "Cat 2", "Cat 3"]);
      for (const { metadata } of tokens) {
        const [, cid = ""] = /^ipfs:\/\/(.+)$/.exec(metadata?.image ?? "") ?? [];
        const number = Number(metadata?.name?.slice("Cat ".length));
        expect(await (await fetch(`${moneta.baseUrl}/ipfs/${cid}`)).text()).to.equal(picture(number));
      }
      const [head, ...lines] = await report();
      expect(head).to.equal("file,token_id,request_id,status,error");
      for (const line of lines) expect(line).to.match(/^json\/\d\.json,\d,[0-9a-f]{64},completed,$/);
      expect(lines).to.have.length(3);
      expect((await run("--yes")).output).to.contain("was finished before");
      expect(await minted()).to.have.length(3);
    });

    it("says in the dry run what the service would warn of, and afterwards what it has warned of", async () => {
      for (const number of [1, 3]) {
        const text = JSON.stringify({
          name: `Cat {id}`,
          image: `${number.toString()}.svg`,
          description: number === 3 ? "{id}" : "",
        });
        await writeFile(join(place.path, "json", `${number.toString()}.json`), text);
      }
      const [name, description] = ["name", "description"].map(
        (field) => `${field}: Nobody replaces \`{id}\` here. Write \`{token_id}\`.`,
      );
      const expected = [`Warning: json/1.json, json/3.json: ${name!}`, `Warning: json/3.json: ${description!}`];
      for (const line of expected) expect((await run()).output).to.contain(`\n${line}\n`);
      for (const line of expected) expect((await run("--yes")).output).to.contain(`\n${line}`);
      const message = "Nobody replaces `{id}` here. Write `{token_id}`.";
      const code = "unknown_placeholder";
      expect(await json("--yes")).to.deep.include({
        warnings: [
          { field: "name", code, message, sources: ["json/1.json", "json/3.json"] },
          { field: "description", code, message, sources: ["json/3.json"] },
        ],
      });
    });

    it("refuses {token_id} where --copy-media would copy", async () => {
      const text = JSON.stringify({ name: "Cat", image: "https://cats.example/{token_id}.png" });
      await writeFile(join(place.path, "json", "1.json"), text);
      await rm(join(place.path, "images", "1.svg"));
      expect(await problems("--copy-media")).to.deep.equal([
        "json/1.json: {token_id} cannot be replaced in media that the service copies: they are copied before the contract gives the token its id. Put the file into the folder, or leave out --copy-media.",
      ]);
      expect(await json()).to.include({ state: "checked" });
    });

    it("refuses a folder, a receiver or a collection that changed after the start", async () => {
      await run("--yes");
      const other = await moneta.api.wallet();
      expect((await rejectionOf(run("--yes", "--to", other))).message).to.contain("changed after its drop began");
      await writeFile(join(place.path, "images", "1.svg"), picture(99));
      expect((await rejectionOf(run("--yes"))).message).to.contain("changed after its drop began");
      expect(await minted()).to.have.length(3);
    });

    it("ignores a last line of the journal that was cut off, and refuses a damaged one", async () => {
      await run("--yes");
      const journal = join(place.path, ".moneta-drop.jsonl");
      await appendFile(journal, '{"entry":"batch","key":"dr');
      expect(await json("--yes")).to.include({ state: "finished", completed: 3 });
      await appendFile(journal, "\n");
      expect((await rejectionOf(run("--yes"))).message).to.match(/Line \d+ of .* is damaged/);
    });

    it("names every problem with its file", async () => {
      await writeFile(join(place.path, "json", "1.json"), "{");
      await writeFile(join(place.path, "json", "2.json"), JSON.stringify({ name: 5, image: "2.svg" }));
      await writeFile(join(place.path, "images", "3.svg"), "");
      await writeFile(join(place.path, "images", "4.svg"), picture(4));
      await symlink("/etc/passwd", join(place.path, "images", "secret.png"));
      await writeFile(join(place.path, "json", "5.json"), JSON.stringify({ image: "../../../../../../../etc/passwd" }));
      await writeFile(join(place.path, "json", "6.json"), JSON.stringify({ image: "secret.png" }));
      await writeFile(join(place.path, "json", "7.json"), JSON.stringify({ name: "No picture" }));
      await writeFile(join(place.path, "json", "8.json"), `{"attributes": ${"[".repeat(99)}${"]".repeat(99)}}`);
      await writeFile(join(place.path, "json", "9.json"), `{"attributes": [[${"0,".repeat(200_000)}0]]}`);
      const found = (await problems("--yes")).join("\n");
      for (const expected of [
        "json/1.json, line 1, column 2: The file is not valid JSON: expected a field name",
        "json/2.json, line 1, column 9: name: Must be a text, but it is a number.",
        "json/3.json: image: images/3.svg is empty.",
        "images/4.svg: No JSON file in json/ belongs to this picture.",
        "json/5.json, line 1, column 10: image: ../../../../../../../etc/passwd is outside of the folder.",
        "json/6.json: image: images/secret.png is outside of the folder.",
        "json/7.json: image: no picture found.",
        "json/8.json, line 1, column 16: attributes: Must be nested at most 16 levels deep.",
        "json/9.json, line 1, column 16: attributes: Must have at most 199900 JSON values.",
      ]) {
        expect(found).to.contain(expected);
      }
      for (const number of [1, 2, 3, 5, 6, 7, 8, 9])
        expect(found.match(new RegExp(`json/${number.toString()}.json`, "g"))).to.have.length(1);
      expect(await minted()).to.deep.equal([]);
    });

    it("refuses more tokens than the collection has room for", async () => {
      drop.collection = await moneta.api.collection({ type: "ERC721", mint_supply_count: 2 });
      expect(await problems("--yes")).to.deep.equal([
        "collection: The collection has room for 2 more tokens (mint_supply_count 2), but 3 are to be minted.",
      ]);
    });

    it("asks whether the tokens can arrive, and sends nothing when they cannot", async () => {
      // A contract that takes no tokens.
      for (const more of [[], ["--yes"]]) {
        const [problem, ...others] = await problems(...more, "--to", drop.collection);
        expect(others).to.deep.equal([]);
        expect(problem)
          .to.match(new RegExp(`^json/1.json: ${drop.collection} does not accept the token: `))
          .and.to.contain("This concerns 2 more tokens.");
      }
      expect(await minted()).to.deep.equal([]);
      const { output } = await run("--to", randomAddress());
      expect(output).to.contain("Whether tokens can arrive: 1 of 1 address was checked.");
    });

    it("refuses a collection that the app does not have, and calls without a token or a receiver", async () => {
      const other = await moneta.createApp("other");
      const foreign = await other.collection({ type: "ERC721" });
      const text = async (...more: string[]) => (await rejectionOf(run(...more))).message;
      expect(await text("--collection", foreign)).to.contain("has no collection");
      const without = runCli({}, ...words());
      expect((await rejectionOf(without)).message).to.contain("MONETA_TOKEN");
      const nobody = runCli(drop.env, ...wordsToNobody());
      expect((await rejectionOf(nobody)).message).to.contain("--to ADDRESS or --user IDENTIFIER");
      expect(await text("--supply", "3")).to.contain("ERC1155 collections only");
    });
  });

  describe("given metadata.csv", () => {
    const table = (...lines: string[]) => writeFile(join(place.path, "metadata.csv"), lines.join("\n"));
    beforeEach(async () => {
      await mkdir(join(place.path, "images"));
      for (const number of [7, 8])
        await writeFile(join(place.path, "images", `${number.toString()}.svg`), picture(number));
    });

    it("mints ERC1155 tokens with the ids and copies of the table", async () => {
      drop.collection = await moneta.api.collection({ type: "ERC1155" });
      await table(
        "\ufefftoken_id,file,name,description,attributes.Fur,supply",
        '7,,"Seven, the first","He said ""hi""",red,3',
        "8,8.svg,Eight,,,",
      );
      expect(await json("--yes", "--supply", "5")).to.include({ completed: 2, failed: 0 });
      const tokens = (await minted()).sort((a, b) => Number(a.token_id) - Number(b.token_id));
      expect(tokens.map(({ token_id, quantity }) => [token_id, quantity])).to.deep.equal([
        [7, 3],
        [8, 5],
      ]);
      expect(tokens[0]?.metadata).to.deep.include({
        name: "Seven, the first",
        description: 'He said "hi"',
        attributes: [{ trait_type: "Fur", value: "red" }],
      });
      expect(tokens[1]?.metadata).not.to.have.any.keys("attributes", "description");
    });

    it("names the line of each problem", async () => {
      drop.collection = await moneta.api.collection({ type: "ERC1155" });
      await table("token_id,name,supply", "7,Seven,1", "7,Again,1", "8,Eight,", "x,Nine,0");
      expect(await problems()).to.deep.equal([
        "metadata.csv, line 5: token_id: Must be an integer from 0 to 2^256-1.",
        "metadata.csv, line 5: supply: Must be an integer from 1 to 2^128-1.",
        "metadata.csv, line 3: Token id 7 is used by metadata.csv, line 2, too.",
        "metadata.csv, line 4: Say how many copies: --supply N, or a column supply.",
      ]);
      await table("file,Fur", "7.svg,red");
      expect((await problems())[0]).to.contain('The column "Fur" is not known.');
    });

    it("gives tokens to the owners in the table, creates their wallets, and sends references", async () => {
      const { address: bob } = await moneta.api.ok<Wallet>("POST", "/v1/accounts", { user_identifier: "bob" });
      const stranger = randomAddress();
      await table(
        "file,name,owner,reference",
        "7.svg,A,new user,order-1",
        "8.svg,B,new user,order-1",
        `7.svg,C,${stranger.toLowerCase()},`,
        "7.svg,D,bob,",
        "7.svg,E,,",
      );
      const dry = await run("--user", "alice");
      expect(dry.output).to.match(/^5 tokens: to 1 address, 3 users, \d of them new: new user/);
      expect((await moneta.api.send("GET", "/v1/accounts/user/new%20user")).status).to.equal(404);
      expect(await json("--yes")).to.include({ completed: 5, failed: 0 });
      const walletOf = async (user: string) =>
        (await moneta.api.ok<Wallet>("GET", `/v1/accounts/user/${user}`)).address;
      const fresh = await walletOf("new%20user");
      const owners = new Map((await minted()).map(({ metadata, owner }) => [metadata?.name, owner]));
      expect(Object.fromEntries(owners)).to.deep.equal({
        A: fresh,
        B: fresh,
        C: stranger,
        D: bob,
        E: await walletOf("alice"),
      });
      const { total } = await moneta.api.ok<{ total: number }>("GET", "/v1/requests?reference=order-1");
      expect(total).to.equal(2);
      await table("file,name,owner,reference", "7.svg,A,eve,order-1");
      expect((await rejectionOf(run("--yes"))).message).to.contain("changed after its drop began");
    });

    it("makes no wallet for an address that is written as a user, and finds a user of that name", async () => {
      const address = randomAddress();
      await table("file,name,owner", `7.svg,A,eth:${address}`, "8.svg,B,alice.eth", "7.svg,C, Bob");
      const found = await problems("--yes");
      expect(found).to.have.length(2);
      expect(found[0]).to.contain(`Send ${address} in its place.`).and.to.contain("POST /v1/accounts");
      expect(found[1]).to.contain("metadata.csv, line 3: owner: ").and.to.contain("ENS");
      await moneta.api.ok<Wallet>("POST", "/v1/accounts", { user_identifier: "alice.eth" });
      await table("file,name,owner", '7.svg,A," Ömer "', "8.svg,B,alice.eth", "7.svg,C,");
      expect(await problems("--user", address)).to.have.length(1);
      await moneta.api.ok<Wallet>("POST", "/v1/accounts", { user_identifier: "ÖMER" });
      const { output } = await run("--user", "dave");
      expect(output)
        .to.contain("3 tokens: to 0 addresses, 3 users, 2 of them new:  Ömer , dave.")
        .and.to.contain('Warning: The user identifier " Ömer " has white space around it.')
        .and.to.contain('Warning: The user " Ömer " is new, but the app has "ÖMER", which differs only in form.');
    });

    it("shows which file becomes which token, for whom, and what stays elsewhere", async () => {
      const lines = Array.from(
        { length: 12 },
        (_, index) => `${(20 - index).toString()},T,https://cats.example/${index.toString()}.png`,
      );
      await table("token_id,name,image", ...lines, "7,Own,");
      const dry = await run();
      expect(dry.output)
        .to.contain("metadata.csv, line 2 (id 20) becomes token 1.")
        .and.to.match(/metadata.csv, line 3 +-> {2}token 2 +-> {2}user alice/)
        .and.to.contain("... and 3 more. --all shows them.")
        .and.to.contain("12 pictures and other files stay elsewhere: 12 at cats.example.");
      expect((await run("--all")).output)
        .to.match(/metadata.csv, line 14 \(images\/7.svg\) +-> {2}token 13/)
        .and.not.to.contain("--all shows them");
      expect((await run("--copy-media")).output).to.contain("The service copies 12 pictures and other files");
    });

    it("needs --to or --user only for tokens without an owner", async () => {
      const jsonToNobody = (...more: string[]) =>
        jsonOfCli<{ problems: object[] }>(drop.env, ...wordsToNobody(...more));
      await table("file,name,owner", "7.svg,A,new user", "8.svg,B,");
      expect((await jsonToNobody()).problems).to.deep.equal([
        {
          source: "metadata.csv, line 3",
          message: "Say who gets the token: in the column owner, or by --to ADDRESS or --user IDENTIFIER.",
        },
      ]);
      await table("file,name,owner", "7.svg,A,new user", "8.svg,B,new user");
      expect(await jsonToNobody("--yes")).to.include({ completed: 2, failed: 0 });
      await table("file,owner,reference", "7.svg,0x12,", `8.svg,0x${"Aa".repeat(20)},${"x".repeat(257)}`);
      expect(await problems()).to.have.members([
        "metadata.csv, line 2: owner: Must be an address (0x and 40 hex digits) or a user identifier.",
        "metadata.csv, line 3: owner: The checksum is wrong. Correct the address, or write it in lower case.",
        "metadata.csv, line 3: reference: Must have at most 256 characters.",
      ]);
    });
  });

  describe("given pictures only", () => {
    const add = (name: string, number: number) => writeFile(join(place.path, name), picture(number));

    it("mints a token for each, with the name of its file, and nothing when it is run again", async () => {
      for (const [index, name] of ["Red cat.svg", "10.svg", "2.svg", "{token_id} of nine.svg", ".hidden"].entries()) {
        await add(name, index);
      }
      await writeFile(join(place.path, "Thumbs.db"), "system");
      const checked = await run();
      expect(checked.output)
        .to.contain("4 tokens: to 0 addresses, 1 user, ")
        .and.to.contain("the tokens get the names of their files")
        .and.to.contain("Nothing was sent.");
      expect(await json("--yes")).to.include({ completed: 4, failed: 0, exit: 0 });
      const names = (await minted()).sort((a, b) => Number(a.token_id) - Number(b.token_id));
      expect(names.map(({ metadata }) => metadata?.name)).to.have.members([
        "2",
        "10",
        "Red cat",
        `${String(names.find(({ metadata }) => metadata?.name?.includes("of nine"))?.token_id)} of nine`,
      ]);
      for (const { metadata } of names) expect(metadata?.image).to.match(/^ipfs:|\/ipfs\//);
      expect(await json("--yes")).to.include({ state: "finished", completed: 4 });
      expect(await minted()).to.have.length(4);
    });

    it("counts ERC1155 tokens from 1 when the names are no numbers", async () => {
      drop.collection = await moneta.api.collection({ type: "ERC1155" });
      for (const [index, name] of ["b.svg", "a.svg"].entries()) await add(name, index);
      expect(await json("--yes", "--supply", "3")).to.include({ completed: 2, failed: 0 });
      const tokens = (await minted()).map(({ token_id: id, metadata, quantity }) => [
        Number(id),
        metadata?.name,
        quantity,
      ]);
      expect(tokens).to.have.deep.members([
        [1, "a", 3],
        [2, "b", 3],
      ]);
    });

    it("names what is not a picture, and a file outside of the folder", async () => {
      await add("1.svg", 1);
      await writeFile(join(place.path, "notes.txt"), "not a picture");
      await symlink("/etc/hostname", join(place.path, "2.png"));
      expect(await problems()).to.deep.equal([
        "2.png: image: 2.png is outside of the folder. Move the file into the folder.",
        "notes.txt: image: notes.txt is a text of 13 bytes, not an image or a video.",
      ]);
    });
  });
});
