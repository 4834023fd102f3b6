export const NO_PROBLEMS = { byField: new Map(), others: [], first: null };
/** Finds the field of each problem: the one that it names, or the nearest one around it. */
export function placeProblems(fields, problems) {
    const byField = new Map();
    const others = [];
    for (const { field, message } of problems) {
        const place = placeOf(fields, field);
        if (place === null)
            others.push(field === "body" ? message : `${field}: ${message}`);
        else
            byField.set(place, [...(byField.get(place) ?? []), message]);
    }
    return { byField, others, first: pathsOf(fields, byField) };
}
/** The problems without those of fields that were changed since. */
export function withoutFields(problems, changed) {
    const kept = [...problems.byField].filter(([path]) => !changed.includes(path.split(".")[0] ?? path));
    return { ...problems, byField: new Map(kept) };
}
/** The API writes a path with dots, `attributes.2.value`. Brackets mean the same. */
function placeOf(fields, path) {
    const [name = "", ...rest] = path.replace(/\[(\d+)\]/g, ".$1").split(".");
    const field = fields.find((one) => one.name === name);
    if (field === undefined)
        return null;
    if (field.kind === "group") {
        const inner = placeOf(field.fields, rest.join("."));
        return inner === null ? name : `${name}.${inner}`;
    }
    if (field.kind !== "attributes" || rest[0] === undefined || !/^\d+$/.test(rest[0]))
        return name;
    return `${name}.${rest[0]}.${rest[1] === "trait_type" ? "trait_type" : "value"}`;
}
function pathsOf(fields, byField, prefix = "") {
    for (const field of fields) {
        const path = `${prefix}${field.name}`;
        if (field.kind === "group") {
            const inner = pathsOf(field.fields, byField, `${path}.`);
            if (inner !== null)
                return inner;
        }
        const own = [...byField.keys()].filter((one) => one === path || (field.kind === "attributes" && one.startsWith(`${path}.`)));
        const [first] = own.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
        if (first !== undefined)
            return first;
    }
    return null;
}
