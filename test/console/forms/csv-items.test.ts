import { expect } from "chai";

import { readFolder } from "../../../client/drop/folder.ts";
import { columnOf, type ItemOptions, itemsOf } from "../../../console/forms/csv/items.ts";
import { readTable } from "../../../console/forms/csv/table.ts";
import { fieldsOf } from "../../../console/forms/model/fields.ts";
import { type CollectionKind, fieldsOfVariant, mintVariant } from "../../../console/forms/model/variants.ts";
import { documentOfService } from "./document.ts";

const mint = fieldsOf(documentOfService(), "post /v1/nfts");
const [COLLECTION, ALICE, BOB] = ["c0", "a1", "b0"].map((byte) => `0x${byte.repeat(20)}`) as [string, string, string];

function optionsFor(kind: CollectionKind, options: Partial<ItemOptions> = {}): ItemOptions {
  return {
    collection: COLLECTION,
    fields: fieldsOfVariant(mint, mintVariant(kind, "new")),
    to: ALICE,
    supply: "",
    copyMedia: false,
    newUsers: false,
    wallets: new Map([["bob", BOB]]),
    pictures: new Map([["cat.png", "ipfs://cat"]]),
    ...options,
  };
}

const ERC721 = { type: "ERC721", hosting: "hosted" } as const;
const ERC1155 = { type: "ERC1155", hosting: "hosted" } as const;

function read(lines: string[], options: ItemOptions) {
  const table = readTable(lines.join("\n"), options.fields);
  const { items, problems } = itemsOf(table, options);
  return { table, items, problems: [...table.problems, ...problems] };
}

describe("rows of a CSV file", () => {
  it("become mints of an ERC721 collection", () => {
    const lines = [
      "file,name,user_identifier,to_address,attributes.fur,attributes.eyes",
      "cat.png,Tom,bob,,red,",
      `,"Cat, {token_id}",,${BOB},,green`,
      ",Plain,,,,",
    ];
    const { items, problems } = read(lines, optionsFor(ERC721));
    expect(problems).to.deep.equal([]);
    expect(items).to.deep.equal([
      {
        collection_address: COLLECTION,
        to_address: BOB,
        name: "Tom",
        image: "ipfs://cat",
        attributes: [{ trait_type: "fur", value: "red" }],
      },
      {
        collection_address: COLLECTION,
        to_address: BOB,
        name: "Cat, {token_id}",
        attributes: [{ trait_type: "eyes", value: "green" }],
      },
      { collection_address: COLLECTION, to_address: ALICE, name: "Plain" },
    ]);
  });

  it("name users for whom the service creates wallets, and have references, if the person chose so", () => {
    const lines = ["user_identifier,to_address,reference", "eve,,order-7", "bob,,", `,${BOB},`, ",,"];
    for (const [kind, field] of [
      [ERC721, "to_address"],
      [ERC1155, "initial_owner"],
    ] as const) {
      const rows = lines.map((line, index) => `${line},${index === 0 ? "token_id" : index.toString()}`);
      const { items, problems } = read(rows, optionsFor(kind, { newUsers: true, supply: "1" }));
      expect(problems).to.deep.equal([]);
      const receivers = items.map(({ to_user: user, [field]: address, reference }) => ({ user, address, reference }));
      expect(receivers).to.deep.equal([
        { user: "eve", address: undefined, reference: "order-7" },
        { user: "bob", address: undefined, reference: undefined },
        { user: undefined, address: BOB, reference: undefined },
        { user: undefined, address: ALICE, reference: undefined },
      ]);
    }
    expect(columnOf("to_user", undefined)).to.equal("user_identifier");
  });

  it("become new ids of an ERC1155 collection", () => {
    const { items, problems } = read(
      ["token_id,supply,name", "007,5,Gem", "8,,Stone"],
      optionsFor(ERC1155, { supply: "1" }),
    );
    expect(problems).to.deep.equal([]);
    const common = { collection_address: COLLECTION, initial_owner: ALICE };
    expect(items).to.deep.equal([
      { ...common, token_id: 7, initial_supply: 5, name: "Gem" },
      { ...common, token_id: 8, initial_supply: 1, name: "Stone" },
    ]);
  });

  it("take the token id from the name of the picture, as a drop does", () => {
    const pictures = new Map([["07.png", "ipfs://gem"]]);
    const { items, problems } = read(["file,supply", "07.png,2"], optionsFor(ERC1155, { pictures }));
    expect(problems).to.deep.equal([]);
    expect(items[0]).to.include({ token_id: 7, image: "ipfs://gem" });
  });

  it("ignore the token id of an ERC721 token, as a drop does", () => {
    const { items, problems } = read(["token_id,name", "7,a", "7,b"], optionsFor(ERC721));
    expect(problems).to.deep.equal([]);
    expect(items[0]).to.not.have.property("token_id");
  });

  it("copy only media that there are", () => {
    const { items } = read(
      ["name,image", "a,https://cats.example/a.png", "b,"],
      optionsFor(ERC721, { copyMedia: true }),
    );
    expect(items.map((item) => item["copy_media"])).to.deep.equal([true, undefined]);
  });

  const WRONG: [string, CollectionKind, string[], { line: number | null; column: string | null; message: RegExp }][] = [
    [
      "an unknown column",
      ERC721,
      ["name,colour", "a,b"],
      {
        line: 1,
        column: "colour",
        message:
          /^The column "colour" is not known\. Use file, token_id, to_address, user_identifier, name,.*reference, owner, attributes\.NAME\.$/,
      },
    ],
    [
      "two unknown columns",
      ERC721,
      ["colour,name,user", "a,b,c"],
      { line: 1, column: "colour", message: /^The columns "colour", "user" are not known\. Use file,/ },
    ],
    ["a column that is there twice", ERC721, ["name,name", "a,b"], { line: 1, column: "name", message: /twice/ }],
    [
      "metadata of a self-hosted collection",
      { ...ERC721, hosting: "self-hosted" },
      ["name", "a"],
      { line: 1, column: "name", message: /not known/ },
    ],
    ["no rows", ERC721, ["name"], { line: null, column: null, message: /no rows/ }],
    [
      "too few cells",
      ERC721,
      ["name,image", "a"],
      { line: 2, column: null, message: /has 1 cells, but there are 2 columns/ },
    ],
    [
      "a wrong address",
      ERC721,
      ["to_address", "0x12"],
      { line: 2, column: "to_address", message: /^Must be an address/ },
    ],
    [
      "an unknown user",
      ERC721,
      ["user_identifier", "eve"],
      { line: 2, column: "user_identifier", message: /No wallet of the app has the user identifier "eve"/ },
    ],
    [
      "an address in the place of a new user",
      ERC721,
      ["user_identifier", `eth:${BOB}`],
      { line: 2, column: "user_identifier", message: /No wallet of the app/ },
    ],
    [
      "two receivers",
      ERC721,
      ["user_identifier,to_address", `bob,${BOB}`],
      { line: 2, column: "user_identifier", message: /not both/ },
    ],
    [
      "a picture that was not chosen",
      ERC721,
      ["file", "dog.png"],
      { line: 2, column: "file", message: /"dog\.png" is not among the chosen files/ },
    ],
    [
      "a wrong URI",
      ERC721,
      ["name,image", "a,javascript:alert(1)"],
      { line: 2, column: "image", message: /^Must be a full URI/ },
    ],
    ["a wrong token id", ERC1155, ["token_id,supply", "x,1"], { line: 2, column: "token_id", message: /whole number/ }],
    ["no supply", ERC1155, ["token_id", "1"], { line: 2, column: "supply", message: /required/ }],
    [
      "an id that is there twice",
      ERC1155,
      ["token_id,supply", "7,1", "007,1"],
      { line: 3, column: "token_id", message: /Line 2 has the token id 7, too/ },
    ],
    ["a quote that is not closed", ERC721, ["name", '"a'], { line: 2, column: null, message: /quote/ }],
  ];
  for (const [what, kind, lines, { line, column, message }] of WRONG) {
    it(`are refused by row and column: ${what}`, () => {
      const { problems } = read(lines, optionsFor(kind));
      expect(problems).to.have.lengthOf(1);
      expect(problems[0]).to.include({ line, column });
      expect(problems[0]?.message).to.match(message);
    });
  }

  it("are refused without anyone who gets the token", () => {
    const { problems } = read(["name", "a"], optionsFor(ERC721, { to: "" }));
    expect(problems.map(({ line, column }) => [line, column])).to.deep.equal([[2, "to_address"]]);
  });

  it("show an error of the API at the column that caused it", () => {
    const { table } = read(
      ["file,user_identifier,attributes.fur,attributes.eyes", "cat.png,bob,,green"],
      optionsFor(ERC721),
    );
    const fields = ["attributes.0.value", "image", "to_address", "initial_supply", "collection_address"];
    expect(fields.map((field) => columnOf(field, table.rows[0]))).to.deep.equal([
      "attributes.eyes",
      "file",
      "user_identifier",
      "supply",
      "collection_address",
    ]);
  });

  it("hold the same metadata as the drop of the command line", () => {
    const columns =
      "token_id,supply,name,description,image,external_url,background_color,animation_url,youtube_url,attributes.fur";
    const rows = [
      '7,3,"Cat, ""7""",  two words ,https://cats.example/7.png,https://cats.example,ff0000,ipfs://cat,https://youtu.be/7,red',
      "8,1,,,ipfs://cid,,,,,",
    ];
    const text = [columns, ...rows].join("\n");
    const drop = readFolder({ names: ["metadata.csv"], textOf: () => ({ text }), type: "ERC1155" });
    expect(drop.problems).to.deep.equal([]);
    const { items, problems } = read([columns, ...rows], optionsFor(ERC1155));
    expect(problems).to.deep.equal([]);
    const same = drop.tokens.map(({ tokenId, supply, metadata }) => ({
      collection_address: COLLECTION,
      initial_owner: ALICE,
      token_id: Number(tokenId),
      initial_supply: Number(supply),
      ...metadata,
    }));
    expect(items).to.deep.equal(same);
  });
});
