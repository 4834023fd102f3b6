import { initialValues, isRecord } from "./values.ts";
/** The body of a call. What is empty is left out. Call it after `problemsOf` found nothing. */
export function bodyOf(fields, values) {
    const entries = fields.map((field) => [field.name, wireValue(field, values[field.name])]);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
/** The body of a change: only what differs from before. null removes a value. */
export function changesOf(fields, values, before) {
    const old = bodyOf(fields, initialValues(fields, before));
    const now = bodyOf(fields, values);
    const names = fields
        .map(({ name }) => name)
        .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]));
    return Object.fromEntries(names.map((name) => [name, now[name] ?? null]));
}
function wireValue(field, value) {
    switch (field.kind) {
        case "boolean":
            // The default is left out, so that calls without the field keep working where it does not apply.
            return value === field.initial ? undefined : value;
        case "choices":
            return Array.isArray(value) && (value.length > 0 || field.required) ? value : undefined;
        case "attributes":
            return attributesOf(value);
        case "group": {
            const body = bodyOf(field.fields, value);
            return Object.keys(body).length === 0 && !field.required ? undefined : body;
        }
        case "integer":
            return integerOf(textOf(value));
        case "number":
            return textOf(value) === "" ? undefined : Number(textOf(value));
        case "percent":
            return textOf(value) === "" ? undefined : hundredthsOf(textOf(value));
        case "json":
            return textOf(value) === "" ? undefined : JSON.parse(textOf(value));
        case "text":
        case "long-text":
            return value === "" ? undefined : value;
        default:
            return textOf(value) === "" ? undefined : textOf(value);
    }
}
/** Without the space around it that comes with copying. */
function textOf(value) {
    return typeof value === "string" ? value.trim() : "";
}
/** A JSON number while it is exact, its digits above that. */
function integerOf(text) {
    if (text === "")
        return undefined;
    const exact = BigInt(text);
    return exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : exact.toString();
}
/** @param text with at most two decimals, so that the result is exact. */
export function hundredthsOf(text) {
    const [whole = "", decimals = ""] = text.split(/[.,]/);
    return Number(`${whole}${decimals.padEnd(2, "0")}`);
}
function attributesOf(rows) {
    const used = rows.filter(({ trait, value }) => trait.trim() !== "" || value.trim() !== "");
    return used.length === 0 ? undefined : used.map(attributeOf);
}
/** A row that nobody changed keeps its exact value: the number 5 does not become the text "5". */
function attributeOf({ trait, value, before }) {
    if (before === null)
        return trait.trim() === "" ? { value } : { trait_type: trait, value };
    const [unchanged] = initialValues([ATTRIBUTES], { attributes: [before] })["attributes"];
    if (unchanged?.trait === trait && unchanged.value === value)
        return before;
    const { trait_type: _, value: valueBefore, ...rest } = isRecord(before) ? before : {};
    const exact = typeof valueBefore === "string" ? value : (parsed(value) ?? value);
    return { ...rest, ...(trait.trim() === "" ? {} : { trait_type: trait }), value: exact };
}
/** null when the text is not JSON. */
function parsed(text) {
    try {
        return JSON.parse(text);
    }
    catch {
        return null;
    }
}
const ATTRIBUTES = {
    kind: "attributes",
    name: "attributes",
    label: "",
    help: null,
    required: false,
    maxItems: null,
};
