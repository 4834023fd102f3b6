import ts from "typescript";
/*
 * openapi-typescript repeats much: each method that a path lacks, each place in which a call has no parameter, the headers and
 * the error body of each answer. Here these parts become references to the types below, which mean the same.
 */
/** Members that stand together in many types, each group with the same types and comments everywhere. */
const PARTS = {
    AnyCall: { members: ["401", "403", "413", "500", "503"], comment: "What every call under `/v1` can be answered." },
    Paging: { members: ["limit", "offset", "cursor"], comment: "Which page of a list." },
    PageOfList: {
        members: ["total", "limit", "offset", "next"],
        comment: "What every page of a list has beside its items.",
    },
    Repeatable: { members: ["Idempotency-Key"], comment: "The header of a call that can be made safe to repeat." },
};
const PLACES = ["query", "header", "path", "cookie"];
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
/** What the shorter types refer to. Interfaces that are not exported could not be part of the declarations of an app. */
export const SHORT_TYPES = `
type Absent<Key extends string> = { [Name in Key]?: never };
type Place = ${unionOf(PLACES)};
type Method = ${unionOf(METHODS)};
/** A path. It has no other methods. */
type Path<Methods> = Methods & { parameters: Absent<Place> } & Absent<Exclude<Method, keyof Methods>>;
/** The parameters of a call. There are none in other places. */
type Inputs<Places> = Places & Absent<Exclude<Place, keyof Places>>;
/** A call without a body. */
type WithoutBody<Call> = Call & { requestBody?: never };
type AnswerHeaders<Name extends keyof components["headers"]> = Pick<components["headers"], Name> & {
  [name: string]: unknown;
};
/** An answer in JSON. */
type Answer<Name extends keyof components["headers"], Body> = {
  headers: AnswerHeaders<Name>;
  content: { "application/json": Body };
}
/** The body of an answer that is an error. */
type ErrorOf<Code extends string> = {
  /** What happened, as a word for programs. */
  error_code: Code;
  /** What happened, and what to do next. */
  message: string;
  errors: components["schemas"]["FieldErrors"];
}
`;
function unionOf(names) {
    return names.map((name) => `"${name}"`).join(" | ");
}
/** The same types in fewer lines. They need `SHORT_TYPES` beside them. */
export function shorter(nodes) {
    const parts = new Parts();
    const shorten = (context) => {
        const visit = (node) => {
            const inner = ts.visitEachChild(node, visit, context);
            return ts.isTypeLiteralNode(inner) ? shorterLiteral(inner, parts) : inner;
        };
        return visit;
    };
    const { transformed } = ts.transform(nodes, [shorten]);
    return [...parts.declared(), ...transformed];
}
/** The types of `PARTS`, as the first type that contains all of their members has them. */
class Parts {
    #members = new Map();
    /** The literal's members in a type of their own, and the others, if all members of a part are there. */
    split(literal) {
        for (const [name, part] of Object.entries(PARTS)) {
            const members = literal.members.filter((member) => part.members.includes(nameOf(member) ?? ""));
            if (members.length < part.members.length)
                continue;
            const first = this.#members.get(name) ?? members;
            this.#members.set(name, first);
            if (textsOf(members) !== textsOf(first))
                continue;
            const own = literal.members.filter((member) => !members.includes(member));
            const types = own.length === 0 ? [] : [ts.factory.createTypeLiteralNode(own)];
            return ts.factory.createIntersectionTypeNode([ts.factory.createTypeReferenceNode(name), ...types]);
        }
        return literal;
    }
    declared() {
        return Object.entries(PARTS).map(([name, { comment }]) => {
            const type = ts.factory.createTypeLiteralNode(this.#members.get(name));
            const alias = ts.factory.createTypeAliasDeclaration(undefined, name, undefined, type);
            return ts.addSyntheticLeadingComment(alias, ts.SyntaxKind.MultiLineCommentTrivia, `* ${comment} `, true);
        });
    }
}
const printer = ts.createPrinter();
const NO_FILE = ts.createSourceFile("", "", ts.ScriptTarget.Latest);
/** Their types, with their comments. */
function textsOf(members) {
    return members.map((member) => printer.printNode(ts.EmitHint.Unspecified, member, NO_FILE)).join("\n");
}
function shorterLiteral(literal, parts) {
    const names = new Set(literal.members.map(nameOf));
    if (isExactly(names, PLACES))
        return generic("Inputs", ts.factory.createTypeLiteralNode(present(literal)));
    if (isExactly(names, [...METHODS, "parameters"])) {
        const methods = present(literal).filter((member) => METHODS.includes(nameOf(member) ?? ""));
        return generic("Path", ts.factory.createTypeLiteralNode(methods));
    }
    if (isExactly(names, ["error_code", "message", "errors"]))
        return errorOf(literal) ?? literal;
    if (isExactly(names, ["headers", "content"]))
        return answer(literal) ?? literal;
    if (isExactly(names, ["parameters", "requestBody", "responses"]))
        return withoutBody(literal);
    return answerHeaders(literal) ?? parts.split(literal);
}
function isExactly(names, wanted) {
    return names.size === wanted.length && wanted.every((name) => names.has(name));
}
function nameOf({ name }) {
    if (name === undefined)
        return undefined;
    return ts.isIdentifier(name) || ts.isStringLiteral(name) || ts.isNumericLiteral(name) ? name.text : undefined;
}
function typeOf(member) {
    return ts.isPropertySignature(member) ? member.type : undefined;
}
function present({ members }) {
    return members.filter((member) => typeOf(member)?.kind !== ts.SyntaxKind.NeverKeyword);
}
function generic(name, ...types) {
    return ts.factory.createTypeReferenceNode(name, types);
}
function errorOf(literal) {
    const code = literal.members.find((member) => nameOf(member) === "error_code");
    const codes = code && typeOf(code);
    return codes === undefined ? undefined : generic("ErrorOf", codes);
}
/** Only headers that are components, and JSON as the only type of content. */
function answer({ members }) {
    const [headers, content] = ["headers", "content"].map((name) => members.find((member) => nameOf(member) === name));
    const names = headers && typeOf(headers);
    const types = content && typeOf(content);
    if (!names || !ts.isTypeReferenceNode(names) || !types || !ts.isTypeLiteralNode(types))
        return undefined;
    const [json, ...others] = types.members;
    const body = json && others.length === 0 && nameOf(json) === "application/json" ? typeOf(json) : undefined;
    return body && generic("Answer", ...(names.typeArguments ?? []), body);
}
function withoutBody(literal) {
    const members = present(literal);
    const hasBody = members.length === literal.members.length;
    return hasBody ? literal : generic("WithoutBody", ts.factory.createTypeLiteralNode(members));
}
/** Headers that are all components, of the same names. */
function answerHeaders({ members }) {
    const named = members.filter((member) => !ts.isIndexSignatureDeclaration(member));
    const names = named.map((member) => nameOf(member) ?? "");
    const same = named.every((member, index) => componentOf("headers", typeOf(member)) === names[index]);
    if (named.length === 0 || named.length === members.length || !same)
        return undefined;
    return generic("AnswerHeaders", ts.factory.createUnionTypeNode(names.map(literalOf)));
}
function literalOf(text) {
    return ts.factory.createLiteralTypeNode(ts.factory.createStringLiteral(text));
}
/** `Name` of `components["kind"]["Name"]`. */
function componentOf(kind, type) {
    if (type === undefined || !ts.isIndexedAccessTypeNode(type) || !ts.isIndexedAccessTypeNode(type.objectType))
        return;
    return textOf(type.objectType.indexType) === kind ? textOf(type.indexType) : undefined;
}
function textOf(type) {
    return ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal) ? type.literal.text : undefined;
}
