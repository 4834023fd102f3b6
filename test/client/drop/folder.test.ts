import { expect } from "chai";

import { type Folder, type FolderContents, readFolder } from "../../../client/drop/folder.ts";
import { FolderProblem } from "../../../client/drop/layout.ts";
import { textOfBytes } from "../../../client/drop/text.ts";

const ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/** Reads a folder. Files without a text are pictures. */
function read(files: Record<string, string | null>, type: Folder["type"] = "ERC721"): FolderContents {
  const textOf = (name: string) => ({ text: files[name] ?? "" });
  return readFolder({ names: Object.keys(files), textOf, type });
}

function problems(files: Record<string, string | null>, type?: Folder["type"]): string[] {
  return read(files, type).problems.map(({ source, message }) => `${source}: ${message}`);
}

/** What each token is: where it is described, its name, its picture. */
function tokens({ tokens: found }: FolderContents): unknown[] {
  return found.map(({ source, metadata, files }) => [source, metadata.name, files.image ?? metadata.image]);
}

function json(name: string, more: object = {}): string {
  return JSON.stringify({ name, ...more });
}

/** As a generator writes it. */
function generated(edition: number) {
  return {
    ...{ name: `Fish #${edition.toString()}`, image: `ipfs://NewUriToReplace/${edition.toString()}.png` },
    ...{ dna: "aa", edition, compiler: "Art Engine" },
  };
}

describe("the folder of a drop", () => {
  const hashlips = { "json/1.json": json("A", generated(1)), "json/2.json": json("B", generated(2)) };
  const pictures = { "images/1.png": null, "images/2.png": null };

  describe("given the output of a tool", () => {
    const expected = [
      ["json/1.json", "Fish #1", "images/1.png"],
      ["json/2.json", "Fish #2", "images/2.png"],
    ];

    it("reads HashLips, with its list beside the files, and names it", () => {
      const list = JSON.stringify([generated(1), generated(2)]);
      const contents = read({ ...hashlips, ...pictures, "json/_metadata.json": list });
      expect(contents.problems).to.deep.equal([]);
      expect(tokens(contents)).to.deep.equal(expected);
      expect(contents.notes[0]).to.match(/^This is the output of HashLips/);
      expect(contents.notes[1]).to.contain("json/_metadata.json");
    });

    it("reads the folder around it", () => {
      const inside = Object.entries({ ...hashlips, ...pictures }).map(([name, text]) => [`build/${name}`, text]);
      const contents = read(Object.fromEntries(inside) as Record<string, string | null>);
      expect(contents.problems).to.deep.equal([]);
      expect(contents.tokens.map(({ source }) => source)).to.deep.equal(["build/json/1.json", "build/json/2.json"]);
    });

    it("reads one list for all tokens", () => {
      for (const place of ["metadata.json", "_metadata.json", "json/_metadata.json"]) {
        const contents = read({ ...pictures, [place]: JSON.stringify([generated(1), generated(2)]) });
        expect(contents.problems).to.deep.equal([]);
        expect(tokens(contents)).to.deep.equal([
          [`${place}, entry 1`, "Fish #1", "images/1.png"],
          [`${place}, entry 2`, "Fish #2", "images/2.png"],
        ]);
      }
    });

    it("reads Sugar's pairs in one folder, without the collection's", () => {
      const files = { "0.json": json("A", { image: "0.png" }), "1.json": json("B", { image: "1.png" }) };
      const collection = { "collection.json": json("All", { image: "collection.png" }), "collection.png": null };
      const contents = read({ ...files, ...collection, "0.png": null, "1.png": null });
      expect(contents.problems).to.deep.equal([]);
      expect(tokens(contents)).to.deep.equal([
        ["0.json", "A", "0.png"],
        ["1.json", "B", "1.png"],
      ]);
      expect(contents.notes.join()).to.contain("Sugar").and.to.contain("collection.json, collection.png");
    });

    it("reads folders in folders, and Sugar's pairs in assets/", () => {
      for (const place of ["out/mainnet/", "build/", "assets/", "my cats/assets/"]) {
        const files = { "0.json": json("A", { image: "0.png" }), "0.png": null };
        const collection = { "collection.json": json("All"), "collection.png": null };
        const inside = Object.entries({ ...files, ...collection }).map(([name, text]) => [place + name, text]);
        const contents = read(Object.fromEntries(inside) as Record<string, string | null>);
        expect(contents.problems).to.deep.equal([]);
        expect(tokens(contents)).to.deep.equal([[`${place}0.json`, "A", `${place}0.png`]]);
      }
    });

    it("gives pictures to the entries of a list by their ids, whatever their order", () => {
      const list = JSON.stringify([
        { name: "Two", token_id: 2 },
        { name: "One", token_id: "1" },
      ]);
      const contents = read({ "metadata.json": list, ...pictures }, "ERC1155");
      expect(contents.tokens.map(({ tokenId, files }) => [tokenId, files.image])).to.deep.equal([
        ["2", "images/2.png"],
        ["1", "images/1.png"],
      ]);
      const hex = JSON.stringify([{ name: "Hex", token_id: "0x10", image: "1.png" }]);
      expect(problems({ "metadata.json": hex, ...pictures }, "ERC1155")).to.deep.equal([
        "metadata.json, entry 1: token_id: Must be an integer from 0 to 2^256-1, in decimal digits: write 16 for 0x10.",
      ]);
    });

    it("reads thirdweb's table with the numbers of pictures", () => {
      const contents = read({ "nfts.csv": "name,description,image\nA,first,2\nB,second,1\n", ...pictures });
      expect(contents.problems).to.deep.equal([]);
      expect(contents.tokens.map(({ files }) => files.image)).to.deep.equal(["images/2.png", "images/1.png"]);
    });

    it("reads names without extension", () => {
      const contents = read({ "json/1": json("A"), "json/2": json("B"), ...pictures });
      expect(contents.problems).to.deep.equal([]);
      expect(tokens(contents)).to.deep.equal([
        ["json/1", "A", "images/1.png"],
        ["json/2", "B", "images/2.png"],
      ]);
    });

    it("reads OpenSea Studio's table", () => {
      const table =
        "tokenID,name,description,file_name,external_url,attributes[Type],attributes[Power Level]\n1,A,,1.png,,Boat,3\n";
      const contents = read({ "metadata.csv": table, ...pictures });
      expect(contents.problems).to.deep.equal([]);
      expect(contents.notes.join()).to.contain("OpenSea Studio");
      expect(contents.tokens[0]?.metadata.attributes).to.deep.equal([
        { trait_type: "Type", value: "Boat" },
        { trait_type: "Power Level", value: "3" },
      ]);
    });

    it("reads thirdweb's table and list: other columns are traits, and pictures belong by their order", () => {
      const table = "name,description,image,Background\nA,first,,Red\nB,second,,Blue\n";
      const contents = read({ "nfts.csv": table, ...pictures });
      expect(contents.problems).to.deep.equal([]);
      expect(tokens(contents)).to.deep.equal([
        ["nfts.csv, line 2", "A", "images/1.png"],
        ["nfts.csv, line 3", "B", "images/2.png"],
      ]);
      expect(contents.tokens[1]?.metadata.attributes).to.deep.equal([{ trait_type: "Background", value: "Blue" }]);
      expect(contents.notes.join()).to.contain("thirdweb").and.to.contain("by the order of their names");
      const list = JSON.stringify([{ name: "A" }, { name: "B", image: "" }]);
      expect(tokens(read({ "nfts.json": list, ...pictures }))).to.deep.equal([
        ["nfts.json, entry 1", "A", "images/1.png"],
        ["nfts.json, entry 2", "B", "images/2.png"],
      ]);
    });

    it("reads the console's own template", () => {
      const head = "file,token_id,to_address,user_identifier,name,unlockable_content,reference";
      const contents = read({
        "metadata.csv": `${head}\n1.png,1,,bob,A,secret,r\n2.png,2,${ADDRESS},,B,,\n`,
        ...pictures,
      });
      expect(contents.problems).to.deep.equal([]);
      expect(contents.notes.join()).to.contain("console");
      expect(contents.tokens.map(({ owner, unlockable }) => [owner, unlockable])).to.deep.equal([
        [{ user: "bob" }, "secret"],
        [{ address: ADDRESS }, null],
      ]);
    });
  });

  describe("given a table", () => {
    for (const [what, text] of Object.entries({
      semicolons: "file;name\n1.png;A\n2.png;B\n",
      "tabs, CR and a byte order mark": "\uFEFFfile\tname\r1.png\tA\r2.png\tB",
      "the line of a spreadsheet": "sep=;\r\nfile;name\r\n1.png;A\r\n2.png;B\r\n",
      "names in any case": "File,NAME\n1.png,A\n2.png,B\n",
      "empty rows": "file,name\n,\n1.png,A\n\n,\n2.png,B\n,\n",
      "empty columns of a spreadsheet": "file;name;;\n1.png;A;;\n2.png;B;;\n",
    })) {
      it(`reads ${what}`, () => {
        const contents = read({ "metadata.csv": text, ...pictures });
        expect(contents.problems).to.deep.equal([]);
        expect(contents.tokens.map(({ metadata, files }) => [metadata.name, files.image])).to.deep.equal([
          ["A", "images/1.png"],
          ["B", "images/2.png"],
        ]);
      });
    }

    it("names all rows with too many cells, and the faults of rows beside an unknown column", () => {
      const table = "file,Fur\n1.png,A,\n2.png,B,C,D\n7.png,E\n";
      expect(problems({ "metadata.csv": table, ...pictures })).to.deep.equal([
        'metadata.csv: The column "Fur" is not known. Use file, token_id, supply, owner, to_address, user_identifier, uri, reference, unlockable_content, name, description, image, animation_url, external_url, youtube_url, background_color, image_data, attributes.NAME.',
        "metadata.csv, line 2: The row has 3 cells, but there are 2 columns. Put cells that contain the separator in quotes.",
        "metadata.csv, line 3: The row has 4 cells, but there are 2 columns. Put cells that contain the separator in quotes.",
        "metadata.csv, line 4: image: the file 7.png does not exist in ./, images/.",
      ]);
    });

    it("names the spreadsheet that has changed a number", () => {
      for (const id of ["1.15E+77", '"1,000"', "3.0", "1'000"]) {
        const found = problems({ "metadata.csv": `token_id,name,image\n${id},A,ipfs://a\n` }, "ERC1155");
        expect(found).to.have.length(1);
        expect(found[0]).to.match(/^metadata.csv, line 2: token_id: Must be an integer.*spreadsheet/);
      }
      expect(problems({ "metadata.csv": "token_id,image\n-1,ipfs://a\n" }, "ERC1155")[0]).not.to.contain("spreadsheet");
    });
  });

  describe("given names of files", () => {
    it("finds names in another Unicode form", () => {
      const composed = "Caf\u00e9";
      const table = `file,name\n${composed}.png,A\n`;
      expect(tokens(read({ "metadata.csv": table, [`images/${composed.normalize("NFD")}.png`]: null }))).to.deep.equal([
        ["metadata.csv, line 2", "A", `images/${composed.normalize("NFD")}.png`],
      ]);
      expect(problems({ "json/é.json": json("A"), ["images/é.png".normalize("NFD")]: null })).to.deep.equal([]);
    });

    it("gives a hint for \\ and for wrong case", () => {
      const table = "file,name\nimages\\1.png,A\n2.PNG,B\n";
      const found = problems({ "metadata.csv": table, ...pictures });
      expect(found[0]).to.contain('Write "/" in place of "\\".');
      expect(found[1]).to.contain("There is images/2.png");
    });

    it("leaves alone what systems write, everywhere", () => {
      const junk = ["Thumbs.db", "images/desktop.ini", "json/.DS_Store", "__MACOSX/json/1.json", "images/._1.png"];
      const more = Object.fromEntries(junk.map((name) => [name, null]));
      expect(problems({ ...hashlips, ...pictures, ...more })).to.deep.equal([]);
      expect(tokens(read({ "a.png": null, "Thumbs.db": null, "__MACOSX/b.png": null }))).to.deep.equal([
        ["a.png", "a", "a.png"],
      ]);
    });

    it("takes 64 hex digits as an ERC1155 id, with zeros as in decimal", () => {
      const name = (end: string) => `json/${end.padStart(64, "0")}.json`;
      const files = { [name("7")]: json("7", { image: "ipfs://a" }), [name("10")]: json("16", { image: "ipfs://a" }) };
      expect(read(files, "ERC1155").tokens.map(({ tokenId }) => tokenId)).to.deep.equal(["7", "16"]);
      const decimal = { "json/0010.json": json("10", { image: "ipfs://a" }) };
      expect(read(decimal, "ERC1155").tokens[0]?.tokenId).to.equal("10");
    });

    it("finds nothing outside of the folder", () => {
      for (const image of ["../../etc/passwd", "/etc/passwd", "../../../x.png"]) {
        expect(problems({ "json/1.json": json("A", { image }) })).to.deep.equal([
          `json/1.json, line 1, column 21: image: ${image} is outside of the folder. Move the file into the folder.`,
        ]);
      }
    });
  });

  describe("given faults in JSON", () => {
    const one = (text: string) => problems({ "json/1.json": text, "images/1.png": null });

    for (const [text, expected] of [
      ['{"name":"x",\n "attributes":[],\n}', "line 3, column 1: The file is not valid JSON: expected a field name"],
      ['{"name": 1}', "line 1, column 10: name: Must be a text, but it is a number."],
      ['{"attributes": {"Fur": "red"}}', "line 1, column 16: attributes: Must be a list such as"],
      [
        '{"x": {"external_url": 1},\n"external_url": "www.a.example"}',
        "line 2, column 17: external_url: Must be a URI",
      ],
      ['{"attributes":[{"value":1e400}]}', "line 1, column 15: attributes: Numbers have at most 78 digits"],
      ["[1]", null],
      ['"a"', "The file must hold one JSON object, but it holds a text."],
    ] as const) {
      it(`has one problem, with its place: ${text}`, () => {
        if (expected === null) expect(one(text)).to.have.length(1);
        else
          expect(one(text).join("\n")).to.match(
            new RegExp(`^json/1.json(, |: )${expected.replace(/[.]/g, "\\.")}[^\n]*$`),
          );
      });
    }

    it("reads UTF-16 with its mark, as spreadsheets write it", () => {
      const text = "file\tname\r\n1.png\t\u00c4";
      const little = Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from(text, "utf16le")]);
      const big = Buffer.concat([Buffer.of(0xfe, 0xff), Buffer.from(text, "utf16le").swap16()]);
      for (const bytes of [little, big]) {
        const found = textOfBytes(bytes);
        expect(found).to.deep.equal({ text: `\ufeff${text}` });
        const contents = read({ "metadata.csv": `\ufeff${text}`, ...pictures });
        expect(tokens(contents)).to.deep.equal([["metadata.csv, line 2", "\u00c4", "images/1.png"]]);
      }
    });

    it("says that a file is empty", () => {
      expect(problems({ "json/1.json": " \n", "images/1.png": null })).to.deep.equal([
        "json/1.json: The file is empty.",
      ]);
    });

    it("says where a text is not UTF-8", () => {
      const bytes = new Uint8Array([...new TextEncoder().encode('{\n"name":"caf'), 0xe9, 0x22, 0x7d]);
      expect(textOfBytes(bytes)).to.have.property("problem").that.contains("line 2, column 12");
    });

    it("keeps numbers exact, and takes empty texts as left out", () => {
      const text =
        '{"name":"A","image":"","external_url":"","attributes":[{"value":12345678901234567891},{"value":1.10}]}';
      const { tokens: found, problems: faults } = read({ "json/1.json": text, "images/1.png": null });
      expect(faults).to.deep.equal([]);
      expect(JSON.stringify(found[0]?.metadata)).to.equal(
        '{"name":"A","attributes":[{"value":12345678901234567891},{"value":1.1}]}',
      );
    });

    it("reads the further fields of the standards", () => {
      const more = { properties: { n: 1 }, localization: { uri: "ipfs://x" }, decimals: 2, background_color: "#fff" };
      const files = { "json/1.json": json("A", more), "images/1.png": null };
      expect(read(files, "ERC1155").tokens[0]?.metadata).to.deep.equal({ name: "A", ...more });
      const { tokens: found, ignored } = read(files);
      expect(found[0]?.metadata).not.to.have.property("decimals");
      expect([...ignored]).to.deep.equal(["decimals"]);
      const faults = { "json/1.json": json("A", { properties: [], background_color: "red" }), "images/1.png": null };
      expect(problems(faults).map((text) => text.replace(/^.*column \d+: /, ""))).to.deep.equal([
        "properties: Must be an object, but it is a list.",
        'background_color: Must be a colour of six hexadecimal digits, such as ff0000. It is "red".',
      ]);
    });

    it("reads owners, as the column of a table", () => {
      const files = { "json/1.json": json("A", { owner: ADDRESS }), "json/2.json": json("B", { owner: "bob" }) };
      expect(read({ ...files, ...pictures }).tokens.map(({ owner }) => owner)).to.deep.equal([
        { address: ADDRESS },
        { user: "bob" },
      ]);
      expect(problems({ "json/1.json": json("A", { owner: 7 }), "images/1.png": null })[0]).to.contain(
        "owner: Must be",
      );
    });

    it("refuses the placeholder of a generator without a picture", () => {
      const found = problems({ "json/9.json": json("A", generated(9)) });
      expect(found).to.have.length(1);
      expect(found[0]).to.contain("NewUriToReplace/9.png").and.to.contain("Put the pictures into images/");
    });
  });

  it("refuses two forms at once, several tables, and no form at all", () => {
    const table = { "metadata.csv": "file,name\n1.png,A\n" };
    expect(() => read({ ...table, ...hashlips })).to.throw(FolderProblem, "both metadata.csv and json/");
    expect(() => read({ "a.csv": "", "b.csv": "" })).to.throw(FolderProblem, "several tables: a.csv, b.csv");
    expect(() => read({})).to.throw(FolderProblem, "neither metadata.csv nor files in json/");
  });
});
