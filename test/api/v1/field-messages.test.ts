import { expect } from "chai";
import { z } from "zod";

import { ApiError, type FieldError } from "../../../api/domain/error-codes.ts";
import { validate } from "../../../api/v1/validate.ts";

const REQUIRED = { code: "required", message: "This field is required." };

describe("field errors", () => {
  for (const [title, schema, value, expected] of [
    ["a missing string", z.string(), undefined, REQUIRED],
    ["null in place of a string", z.string(), null, REQUIRED],
    ["a missing choice", z.enum(["a", "b"]), undefined, REQUIRED],
    ["a number in place of a string", z.string(), 1, { code: "wrong_type", message: "Must be a string." }],
    ["a string in place of a flag", z.boolean(), "yes", { code: "wrong_type", message: "Must be true or false." }],
    ["an object in place of an array", z.array(z.unknown()), {}, { code: "wrong_type", message: "Must be an array." }],
    ["an array in place of an object", z.object({}), [], { code: "wrong_type", message: "Must be a JSON object." }],
    ["a string in place of a number", z.number(), "1", { code: "wrong_type", message: "Must be a number." }],
    [
      "an unusual type",
      z.bigint(),
      1,
      { code: "wrong_type", message: "Has the wrong type. See /docs for the accepted types." },
    ],
    ["another choice", z.enum(["a", "b"]), "c", { code: "invalid", message: "Must be one of: a, b." }],
    ["a long array", z.array(z.unknown()).max(1), [1, 2], { code: "too_long", message: "Must have at most 1 entry." }],
    ["a short array", z.array(z.unknown()).min(2), [], { code: "too_short", message: "Must have at least 2 entries." }],
    ["a long text", z.string().max(2), "abc", { code: "too_long", message: "Must have at most 2 characters." }],
    ["a short text", z.string().min(1), "", { code: "too_short", message: "Must have at least 1 character." }],
    ["a large number", z.number().max(3), 4, { code: "too_big", message: "Must be at most 3." }],
    ["a small number", z.number().min(3), 2, { code: "too_small", message: "Must be at least 3." }],
    [
      "another pattern",
      z.string().regex(/x/),
      "y",
      { code: "invalid_format", message: "Has the wrong format. See /docs for the accepted format." },
    ],
    [
      "no member of a union",
      z.union([z.string(), z.boolean()]),
      1,
      { code: "wrong_type", message: "Has the wrong type. See /docs for the accepted types." },
    ],
    [
      "no multiple",
      z.number().multipleOf(2),
      3,
      { code: "invalid", message: "Is not an accepted value. See /docs for the accepted values." },
    ],
  ] as const) {
    it(`describes ${title} in a sentence of the service, not of zod`, () => {
      expect(errorsOf(z.object({ field: schema }), { field: value })).to.deep.equal([{ field: "field", ...expected }]);
    });
  }

  for (const [title, body] of [
    ["an array", []],
    ["null", null],
    ["a text", "text"],
  ] as const) {
    it(`says that the body must be an object when it is ${title}`, () => {
      const expected = { field: "body", code: "wrong_type", message: "Must be a JSON object." };
      expect(errorsOf(z.strictObject({}), body)).to.deep.equal([expected]);
    });
  }

  for (const [sent, valid, meant] of [
    ["amount", ["quantity", "initial_supply"], "quantity"],
    ["quantity", ["from_address", "amount"], "amount"],
    ["supply", ["initial_supply"], "initial_supply"],
    ["contract_address", ["collection_address"], "collection_address"],
    ["to", ["to_address"], "to_address"],
  ] as const) {
    it(`says that ${sent} is called ${meant} in this call`, () => {
      const schema = z.strictObject(Object.fromEntries(valid.map((name) => [name, z.string().optional()])));
      const message = `There is no such field. Did you mean \`${meant}\`? Valid fields: ${valid.join(", ")}.`;
      expect(errorsOf(schema, { [sent]: 1 })).to.deep.equal([{ field: sent, code: "unknown_field", message }]);
    });
  }

  it("names each unknown field, and lists the valid ones once", () => {
    const schema = z.strictObject({ user_identifier: z.string().optional(), name: z.string().optional() });
    const message = "There is no such field. Remove it, or correct its name.";
    expect(errorsOf(schema, { nam: 2, other: 3 })).to.deep.equal([
      { field: "nam", code: "unknown_field", message: `${message} Valid fields: user_identifier, name.` },
      { field: "other", code: "unknown_field", message },
    ]);
    expect(errorsOf(z.strictObject({}), { a: 1 })).to.deep.equal([{ field: "a", code: "unknown_field", message }]);
  });

  it("bounds the list of valid names", () => {
    const names = Array.from({ length: 100 }, (_, n) => `field_${n.toString().padStart(3, "0")}`);
    const schema = z.strictObject(Object.fromEntries(names.map((name) => [name, z.string().optional()])));
    const [error] = errorsOf(schema, { x: 1 }) ?? [];
    expect(error?.message).to.match(/Valid fields: field_000, .*, field_035 and 64 more\.$/);
  });

  it("says the first field and its reason in the message, and counts the others", () => {
    const schema = z.strictObject({ name: z.string(), symbol: z.string(), type: z.enum(["ERC721"]) });
    expect(refusalOf(schema, { name: 1, symbol: "A", type: "ERC721" }).message).to.equal("`name`: Must be a string.");
    expect(refusalOf(schema, { type: "x" }).message).to.equal(
      "`name`: This field is required. ... and 2 more: see `errors`.",
    );
    const many = refusalOf(schema, Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`x${n.toString()}`, 1])));
    expect(many.message).to.contain("... and 502 more: see `errors`.");
    expect(many.errors).to.have.length(100);
    expect(refusalOf(z.strictObject({}), { ["x".repeat(500)]: 1 }).message).to.have.length.below(200);
  });
});

function errorsOf(schema: z.ZodType, value: unknown): FieldError[] | null {
  return refusalOf(schema, value).errors;
}

function refusalOf(schema: z.ZodType, value: unknown): ApiError {
  try {
    validate(schema, value);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("the value was accepted");
}
