import { labelOf } from "./labels.ts";
import { alternativesOf, bodySchemaOf, resolved } from "./schema.ts";
/** Strings that may be longer than this get several lines. */
const LONG = 500;
const ADDRESS = "^0x[0-9a-fA-F]{40}$";
/** The schema writes integers of any length as an integer or such a string. */
const DIGITS = "^[0-9]{1,78}$";
/** How the API names numbers in hundredths of a percent. */
const HUNDREDTHS = "_basis_points";
/** A form has only the fields of the kind of collection that was chosen, so it need not say which kind that is. */
function helpOf(name, described) {
    if (name.endsWith(HUNDREDTHS))
        return "In percent of the price of a sale, such as 5 or 2.5.";
    return described?.replace(/^(Hosted|Self-hosted) only[^.]*\.\s*/, "") || null;
}
/** The fields of the body of a call such as `post /v1/nfts`, in the order of the schema. */
export function fieldsOf(document, call) {
    return fieldsOfObject(document, bodySchemaOf(document, call));
}
function fieldsOfObject(document, schema) {
    const required = new Set(schema.required);
    return Object.entries(schema.properties ?? {}).map(([name, property]) => fieldOf(document, name, property, required.has(name)));
}
function fieldOf(document, name, schema, required) {
    const alternatives = alternativesOf(document, schema);
    const whole = resolved(document, schema);
    const described = whole.description ?? alternatives.find(({ description }) => description !== undefined)?.description;
    const base = { name, label: labelOf(name), help: helpOf(name, described), required };
    const ofType = (type) => alternatives.find((one) => one.type === type);
    const options = optionsOf(alternatives);
    if (options !== null)
        return { ...base, kind: "choice", options };
    const integer = ofType("integer");
    if (integer !== undefined || alternatives.some(({ pattern }) => pattern === DIGITS)) {
        return numberField(base, name.endsWith(HUNDREDTHS) ? "percent" : "integer", integer ?? {});
    }
    const number = ofType("number");
    if (number !== undefined)
        return numberField(base, "number", number);
    const array = ofType("array");
    if (array !== undefined)
        return listField(document, base, array);
    const object = ofType("object");
    if (object?.properties !== undefined) {
        return { ...base, kind: "group", fields: fieldsOfObject(document, object) };
    }
    if (ofType("boolean") !== undefined)
        return { ...base, kind: "boolean", initial: whole.default === true };
    const text = ofType("string");
    return text === undefined ? { ...base, kind: "json" } : textField(base, text);
}
/** The values when every alternative names some; null otherwise. */
function optionsOf(alternatives) {
    const values = alternatives.map((one) => one.enum ?? (one.const === undefined ? null : [one.const]));
    if (values.length === 0 || values.includes(null))
        return null;
    return values.flatMap((some) => some ?? []).map(String);
}
function numberField(base, kind, { minimum, maximum }) {
    return { ...base, kind, minimum: minimum ?? null, maximum: maximum ?? null };
}
function listField(document, base, array) {
    const options = optionsOf(alternativesOf(document, array.items ?? {}));
    if (options !== null)
        return { ...base, kind: "choices", options };
    if (base.name === "attributes")
        return { ...base, kind: "attributes", maxItems: array.maxItems ?? null };
    return { ...base, kind: "json" };
}
function textField(base, { minLength, maxLength, pattern }) {
    const schemes = schemesOf(base.help);
    const long = maxLength === undefined || maxLength > LONG;
    const kind = pattern === ADDRESS ? "address" : schemes.length > 0 ? "uri" : long && pattern === undefined ? "long-text" : "text";
    return {
        ...base,
        kind,
        minLength: minLength ?? 0,
        maxLength: maxLength ?? null,
        pattern: pattern ?? null,
        schemes,
    };
}
/** The document describes a URI by the schemes that it may have: a JSON schema cannot express them. */
function schemesOf(help) {
    const [, list] = /schemes:? ([a-z][a-z:, ]*:)\.?$/i.exec(help ?? "") ?? [];
    return list === undefined ? [] : list.split(", ");
}
