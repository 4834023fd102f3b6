import { hundredthsOf } from "./body.ts";
export const REQUIRED = "This field is required.";
/** What the service would refuse, found before the call. The service checks again, and has the last word. */
export function problemsOf(fields, values, prefix = "") {
    return fields.flatMap((field) => {
        const path = `${prefix}${field.name}`;
        const value = values[field.name];
        if (field.kind === "group")
            return problemsOf(field.fields, value, `${path}.`);
        if (field.kind === "attributes")
            return attributeProblems(path, field.maxItems, value);
        const message = isEmpty(value) ? (field.required ? REQUIRED : null) : faultOf(field, value);
        return message === null ? [] : [{ field: path, message }];
    });
}
function isEmpty(value) {
    return (value === undefined ||
        (typeof value === "string" && value.trim() === "") ||
        (Array.isArray(value) && value.length === 0));
}
function faultOf(field, value) {
    if (typeof value !== "string")
        return null;
    switch (field.kind) {
        case "integer":
        case "number":
            return numberFault(field, value.trim());
        case "percent":
            return percentFault(field, value.trim());
        case "choice":
            return field.options.includes(value) ? null : `Must be one of: ${field.options.join(", ")}.`;
        case "json":
            return isJson(value) ? null : "Must be valid JSON.";
        case "text":
        case "long-text":
            return textFault(field, value);
        case "address":
        case "uri":
            return textFault(field, value.trim());
        default:
            return null;
    }
}
/** Characters are code points, as the service counts them. */
function textFault(field, value) {
    const { kind, minLength, maxLength, pattern, schemes } = field;
    const length = Array.from(value).length;
    if (!value.isWellFormed() || value.includes("\0")) {
        return "Must be valid Unicode, without NUL characters or lone surrogates.";
    }
    if (maxLength !== null && length > maxLength)
        return `Must have at most ${maxLength.toString()} characters.`;
    if (length < minLength)
        return `Must have at least ${minLength.toString()} characters.`;
    if (pattern !== null && !new RegExp(pattern).test(value)) {
        return kind === "address" ? "Must be an address: 0x and 40 hex digits." : "Has the wrong format.";
    }
    const scheme = value.slice(0, value.indexOf(":") + 1).toLowerCase();
    if (kind === "uri" && !schemes.includes(scheme)) {
        return `Must be a full URI with one of the schemes ${schemes.join(", ")}.`;
    }
    return null;
}
function numberFault({ kind, minimum, maximum }, value) {
    if (kind === "integer" && !/^[0-9]{1,78}$/.test(value))
        return "Must be a whole number: digits only.";
    if (kind === "number" && !Number.isFinite(Number(value)))
        return "Must be a number.";
    const exact = kind === "integer" ? BigInt(value) : Number(value);
    if (minimum !== null && exact < minimum)
        return `Must be at least ${minimum.toString()}.`;
    if (maximum !== null && exact > maximum)
        return `Must be at most ${maximum.toString()}.`;
    return null;
}
function percentFault({ minimum, maximum }, value) {
    if (!/^[0-9]{1,9}([.,][0-9]{1,2})?$/.test(value))
        return "Must be a percentage, such as 5 or 2.5: at most two decimals.";
    const hundredths = hundredthsOf(value);
    if (minimum !== null && hundredths < minimum)
        return `Must be at least ${(minimum / 100).toString()} %.`;
    if (maximum !== null && hundredths > maximum)
        return `Must be at most ${(maximum / 100).toString()} %.`;
    return null;
}
function isJson(value) {
    try {
        JSON.parse(value);
        return true;
    }
    catch {
        return false;
    }
}
function attributeProblems(path, most, rows) {
    const missing = rows.flatMap(({ trait, value, before }, index) => before === null && trait.trim() !== "" && value.trim() === ""
        ? [{ field: `${path}.${index.toString()}.value`, message: "This attribute needs a value." }]
        : []);
    const tooMany = most !== null && rows.length > most;
    return tooMany ? [{ field: path, message: `Must have at most ${most.toString()} entries.` }, ...missing] : missing;
}
