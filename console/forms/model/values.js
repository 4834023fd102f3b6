/** The values of an empty form. @param known values to begin with, as the API writes them. */
export function initialValues(fields, known = {}) {
    return Object.fromEntries(fields.map((field) => [field.name, initialValue(field, known[field.name])]));
}
function initialValue(field, known) {
    switch (field.kind) {
        case "boolean":
            return typeof known === "boolean" ? known : field.initial;
        case "choices":
            return Array.isArray(known) ? known.map(String) : [];
        case "attributes":
            return Array.isArray(known) ? known.map(attributeRow) : [];
        case "group":
            return initialValues(field.fields, isRecord(known) ? known : {});
        case "choice":
            return textOf(known) || (field.required ? (field.options[0] ?? "") : "");
        case "percent":
            return typeof known === "number" ? (known / 100).toString() : "";
        case "json":
            return known == null ? "" : JSON.stringify(known, null, 2);
        default:
            return textOf(known);
    }
}
function textOf(value) {
    return typeof value === "string" || typeof value === "number" || typeof value === "bigint" ? String(value) : "";
}
/** An attribute in the form of the marketplaces has a trait and a value. Any other one is shown as JSON. */
function attributeRow(attribute) {
    if (!isRecord(attribute))
        return { trait: "", value: JSON.stringify(attribute), before: attribute };
    const { trait_type: trait, value } = attribute;
    const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
    return { trait: typeof trait === "string" ? trait : "", value: text, before: attribute };
}
export function isRecord(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
