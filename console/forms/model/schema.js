const COMPONENT = "#/components/schemas/";
/** The operation of a call such as `post /v1/nfts`. @throws Error when the document has none. */
function operationOf(document, call) {
    const [method = "", path = ""] = call.split(" ");
    const operation = document.paths[path]?.[method];
    if (operation === undefined)
        throw new Error(`The service's document has no operation "${call}".`);
    return operation;
}
/** The schema of the JSON body of a call. @throws Error when the call takes none. */
export function bodySchemaOf(document, call) {
    const schema = operationOf(document, call).requestBody?.content["application/json"]?.schema;
    if (schema === undefined)
        throw new Error(`The call "${call}" takes no JSON body.`);
    return resolved(document, schema);
}
/** The schema itself instead of a reference to it. Words beside the reference come first. */
export function resolved(document, schema) {
    const { $ref: reference, ...beside } = schema;
    if (reference === undefined)
        return schema;
    const target = reference.startsWith(COMPONENT)
        ? document.components?.schemas?.[reference.slice(COMPONENT.length)]
        : undefined;
    if (target === undefined)
        throw new Error(`The service's document has no schema "${reference}".`);
    return { ...resolved(document, target), ...beside };
}
/** The forms that a value may have: unions are flattened, and null is left out, because an empty field stands for it. */
export function alternativesOf(document, schema) {
    const whole = resolved(document, schema);
    const union = whole.anyOf ?? whole.oneOf;
    if (union !== undefined)
        return union.flatMap((one) => alternativesOf(document, one));
    const types = Array.isArray(whole.type) ? whole.type : [whole.type];
    return types.filter((type) => type !== "null").map((type) => withType(whole, type));
}
function withType({ type: _, ...rest }, type) {
    return type === undefined ? rest : { ...rest, type };
}
