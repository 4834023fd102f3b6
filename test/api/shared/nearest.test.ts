import { expect } from "chai";

import { nearest } from "../../../api/shared/nearest.ts";

const NAMES = ["user_identifier", "to_address", "token_id", "name", "uri", "image", "initial_supply"];

describe("nearest", () => {
  for (const [typed, expected] of [
    ["user_identifer", "user_identifier"],
    ["userIdentifier", "user_identifier"],
    ["USER-IDENTIFIER", "user_identifier"],
    ["to_adress", "to_address"],
    ["tokenid", "token_id"],
    ["nmae", "name"],
    ["url", "uri"],
    ["intial_suply", "initial_supply"],
    ["title", null],
    ["address", "to_address"],
    ["owner", null],
    ["quantity", null],
    ["x", null],
    ["", null],
    ["user_identifier".repeat(3), null],
  ] as const) {
    it(`finds ${expected ?? "nothing"} for ${JSON.stringify(typed)}`, () => {
      expect(nearest(typed, NAMES)).to.equal(expected);
    });
  }
});
