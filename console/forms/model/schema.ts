/** What the forms read of a JSON Schema. The service's document has more, which forms do not need. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  default?: unknown;
  description?: string;
}

interface Operation {
  summary?: string;
  description?: string;
  requestBody?: { content: Record<string, { schema?: JsonSchema }> };
}

/** The service's OpenAPI document, as `GET /openapi.json` answers it. */
export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, JsonSchema> };
}

const COMPONENT = "#/components/schemas/";

/** The operation of a call such as `post /v1/nfts`. @throws Error when the document has none. */
function operationOf(document: ApiDocument, call: string): Operation {
  const [method = "", path = ""] = call.split(" ");
  const operation = document.paths[path]?.[method];
  if (operation === undefined) throw new Error(`The service's document has no operation "${call}".`);
  return operation;
}

/** The schema of the JSON body of a call. @throws Error when the call takes none. */
export function bodySchemaOf(document: ApiDocument, call: string): JsonSchema {
  const schema = operationOf(document, call).requestBody?.content["application/json"]?.schema;
  if (schema === undefined) throw new Error(`The call "${call}" takes no JSON body.`);
  return resolved(document, schema);
}

/** The schema itself instead of a reference to it. Words beside the reference come first. */
export function resolved(document: ApiDocument, schema: JsonSchema): JsonSchema {
  const { $ref: reference, ...beside } = schema;
  if (reference === undefined) return schema;
  const target = reference.startsWith(COMPONENT)
    ? document.components?.schemas?.[reference.slice(COMPONENT.length)]
    : undefined;
  if (target === undefined) throw new Error(`The service's document has no schema "${reference}".`);
  return { ...resolved(document, target), ...beside };
}

/** The forms that a value may have: unions are flattened, and null is left out, because an empty field stands for it. */
export function alternativesOf(document: ApiDocument, schema: JsonSchema): JsonSchema[] {
  const whole = resolved(document, schema);
  const union = whole.anyOf ?? whole.oneOf;
  if (union !== undefined) return union.flatMap((one) => alternativesOf(document, one));
  const types = Array.isArray(whole.type) ? whole.type : [whole.type];
  return types.filter((type) => type !== "null").map((type) => withType(whole, type));
}

function withType({ type: _, ...rest }: JsonSchema, type: string | undefined): JsonSchema {
  return type === undefined ? rest : { ...rest, type };
}
