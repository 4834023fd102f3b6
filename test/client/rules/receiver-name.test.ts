import { expect } from "chai";

import { mistakenName, refusalOfNewUser } from "../../../client/rules/receiver-name.ts";

const ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const DIGITS = ADDRESS.slice(2);

describe("names of receivers", () => {
  for (const [what, name] of Object.entries({
    "an address": ADDRESS,
    "an address in capital letters": ADDRESS.toUpperCase(),
    "white space around": `\t ${ADDRESS}\u00a0`,
    "white space inside": `0x7099 7970${DIGITS.slice(8)}`,
    "a line break": `${ADDRESS}\n`,
    "a zero-width space": `\u200b${ADDRESS}`,
    "a mark of direction and a byte order mark": `\ufeff${ADDRESS}\u202c`,
    "a soft hyphen inside": `${ADDRESS.slice(0, 9)}\u00ad${ADDRESS.slice(9)}`,
    "a variation selector": `${ADDRESS}\ufe0f`,
    quotes: `"${ADDRESS}"`,
    "quotes of a text program": `“${ADDRESS}”`,
    "an apostrophe before": `'${ADDRESS}`,
    brackets: `<${ADDRESS}>`,
    "a comma behind": `${ADDRESS},`,
    "full-width digits": ADDRESS.replace(/[0-9a-zA-Z]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0)),
    "no 0x": DIGITS,
    "no 0x, lower case": DIGITS.toLowerCase(),
    "x only": `x${DIGITS}`,
    "the letter O": `Ox${DIGITS}`,
    "a short name of the chain": `eth:${ADDRESS}`,
    "a short name with a hyphen": `base-sep:${ADDRESS}`,
    "CAIP-10": `eip155:1:${ADDRESS}`,
    "a DID": `did:pkh:eip155:137:${ADDRESS}`,
    "EIP-681": `ethereum:pay-${ADDRESS}@1`,
    XDC: `xdc${DIGITS}`,
    "a chain and no 0x": `matic:${DIGITS}`,
    "a chain and a space": `eth: ${ADDRESS}`,
    "EIP-681 with a call and a value": `ethereum:${ADDRESS}@1/transfer?value=1`,
    "the page of an explorer": `https://explorer.example/address/${ADDRESS}#code`,
    "a Cyrillic x": `0х${DIGITS}`,
    "a sign of multiplication": `0×${DIGITS}`,
    "Cyrillic letters among the digits": ADDRESS.replaceAll("C", "С").replaceAll("a", "а"),
    "0x twice": `0x${ADDRESS}`,
    "an address of 32 bytes": `0x${"0".repeat(24)}${DIGITS}`,
    "signs around": `|+${ADDRESS}|`,
  })) {
    it(`finds the address: ${what}`, () => {
      const found = mistakenName(name);
      expect(found?.is).to.equal("address");
      expect(found?.is === "address" && found.address?.toLowerCase()).to.equal(ADDRESS.toLowerCase());
    });
  }

  for (const name of [
    "alice.eth",
    "Alice.ETH",
    "pay.alice.eth",
    " alice.eth\u200b",
    '"alice.eth"',
    "alice．eth",
    "alice.eth.",
    "alice.еth",
  ]) {
    it(`finds the ENS name ${JSON.stringify(name)}`, () => {
      expect(mistakenName(name)).to.deep.equal({ is: "ens" });
    });
  }

  for (const [what, name] of Object.entries({
    "39 digits": ADDRESS.slice(0, -1),
    "41 digits": `${ADDRESS}1`,
    "letters in place of digits": ADDRESS.replaceAll("1", "l").replaceAll("0", "O"),
    "digits of another script": ADDRESS.replaceAll("7", "٧"),
    "only the beginning and the end": "0x7099…79C8",
    ICAP: "XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS",
    ICAN: `cb57${DIGITS}`,
  })) {
    it(`finds an address that cannot be read: ${what}`, () => {
      expect(mistakenName(name)).to.deep.equal({ is: "address", address: null });
      expect(refusalOfNewUser(name, "in `to_address`")).to.contain("Send the address (0x and 40 hex digits) in");
    });
  }

  for (const name of [
    ..."alice|a.user@sample.example|new user|Zoë 🐈|0|12345|d9b2d63d-a233-4123-847a-42f9ba2ee8f8|eth|alice.ether|0x12".split(
      "|",
    ),
    `${DIGITS}00`,
    DIGITS.slice(1),
    `user:${DIGITS}:2`,
    "d".repeat(64),
    "…",
  ]) {
    it(`leaves the name ${JSON.stringify(name)} alone`, () => {
      expect(mistakenName(name)).to.equal(null);
      expect(refusalOfNewUser(name, "elsewhere")).to.equal(null);
    });
  }

  it("says what to send, and how to make such a user on purpose", () => {
    expect(refusalOfNewUser(`eth:${DIGITS}`, "in `to_address`"))
      .to.contain(`Send ${ADDRESS} in \`to_address\`.`)
      .and.to.contain("POST /v1/accounts");
    expect(refusalOfNewUser("alice.eth", "in `to_address`")).to.contain("ENS").and.to.contain("POST /v1/accounts");
  });
});
