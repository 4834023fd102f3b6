import { IDEMPOTENT_CALLS } from "../../client/document.ts";
import { randomKey } from "../../client/rules/random-key.ts";
/* A call as a command or as code. Whoever runs it uses an API token instead of the session of the page. */
const WIDTH = 80;
/** Only console sessions may call these: a token that leaks cannot make further tokens. */
const OF_SESSIONS = /^\/v1\/tokens(\/|$)/;
function howToSignIn(cli) {
    const from = cli === "" ? "which the operator of the service gives you." : `which this prints: ${cli} console --app NAME`;
    return [
        "Only a console session can make this call, not an API token.",
        `Set MONETA_CODE to the code of a new link, ${from}`,
    ];
}
/** The file in which curl keeps the cookie of the session. */
const COOKIES = "moneta-session.txt";
/** The header with a new key. The copied call is a call of its own: with the key of the page's call it would do nothing. */
const KEY = "Idempotency-Key";
/**
 * @param service URL of the service, with a slash at its end.
 * @param cli the beginning of a command on a local chain, else empty.
 * @param key of an idempotent call.
 */
export function asCurl(call, service, cli = "", key = randomKey()) {
    const uploads = (call.uploads ?? []).map(({ file }) => curlOf({ method: "POST", path: "/v1/media", file }, service, cli, key));
    return [...uploads, curlOf(call, service, cli, key)].join("\n");
}
function curlOf(call, service, cli, key) {
    const own = needsSession(call);
    const who = own ? [`-b ${COOKIES}`, ...sessionHeaders(service)] : ['-H "Authorization: Bearer $MONETA_TOKEN"'];
    const lines = [`curl ${quoted(urlOf(call, service))}`, ...who];
    if (takesKey(call))
        lines.push(`-H '${KEY}: ${key}'`);
    if (call.method !== "GET")
        lines.splice(1, 0, `-X ${call.method}`);
    if (call.file !== undefined) {
        lines.push("-H 'Content-Type: application/octet-stream'", `--data-binary ${quoted(`@${call.file.replace(UNSEEN, "?")}`)}`);
    }
    else if (call.body !== undefined) {
        lines.push("-H 'Content-Type: application/json'", `--data ${quoted(jsonOf(call.body))}`);
    }
    const command = lines.join(" \\\n  ");
    return own ? `${signInWithCurl(service, cli)}\n${command}` : command;
}
/** As `asCurl`. */
export function asTypeScript(call, service, cli = "", key = randomKey()) {
    const baseUrl = JSON.stringify(service.replace(/\/$/, ""));
    const uploads = call.file === undefined ? (call.uploads ?? []) : [{ file: call.file, uri: "" }];
    const head = [
        ...(uploads.length === 0 ? [] : ['import { openAsBlob } from "node:fs";']),
        'import { answerOf, createClient } from "@moneta/client";',
        "",
        ...(needsSession(call)
            ? signInWithTypeScript(baseUrl, service, cli)
            : [
                `const baseUrl = process.env.MONETA_URL ?? ${baseUrl};`,
                "const client = createClient({ baseUrl, token: process.env.MONETA_TOKEN! });",
            ]),
    ];
    if (call.file !== undefined) {
        return [...head, `const answer = ${uploadOf(call.file)};`].join("\n");
    }
    const params = {
        ...(isEmpty(call.pathParams) ? {} : { path: call.pathParams }),
        ...(isEmpty(call.query) ? {} : { query: call.query }),
    };
    const options = {
        ...(isEmpty(params) ? {} : { params }),
        ...(takesKey(call) ? { headers: { [KEY]: key } } : {}),
        ...(call.body === undefined ? {} : { body: call.body }),
    };
    const files = uploads.map(({ file }, index) => `const { uri: ${nameOf(index)} } = ${uploadOf(file)};`);
    const written = isEmpty(options) ? "" : `, ${literal(options)}`;
    const rest = uploads.reduce((text, { uri }, index) => text.replaceAll(jsonOf(uri), nameOf(index)), written);
    return [
        ...head,
        ...files,
        `const answer = await answerOf(client.${call.method}(${JSON.stringify(call.path)}${rest}));`,
    ].join("\n");
}
function takesKey({ method, path }) {
    return IDEMPOTENT_CALLS.includes(`${method} ${path}`);
}
function uploadOf(file) {
    return `await client.uploadMedia(await openAsBlob(${jsonOf(file)}))`;
}
/** The name of the constant that has the URI of an uploaded file. */
function nameOf(index) {
    return `uri${(index + 1).toString()}`;
}
function needsSession({ path }) {
    return OF_SESSIONS.test(path);
}
function sessionHeaders(service) {
    return ["-H 'X-Moneta-Console: 1'", `-H ${quoted(`Origin: ${new URL(service).origin}`)}`];
}
function signInWithCurl(service, cli) {
    const command = [
        `curl -c ${COOKIES} ${quoted(urlOf({ method: "POST", path: "/v1/console/session" }, service))}`,
        ...sessionHeaders(service),
        "-H 'Content-Type: application/json'",
        '--data "{\\"code\\":\\"$MONETA_CODE\\"}"',
    ].join(" \\\n  ");
    const notes = [...howToSignIn(cli), `The session is then in ${COOKIES}: delete the file afterwards.`];
    return [...notes.map((note) => `# ${note}`), command].join("\n");
}
function signInWithTypeScript(baseUrl, service, cli) {
    const headers = { "X-Moneta-Console": "1", Origin: new URL(service).origin };
    return [
        ...howToSignIn(cli).map((note) => `// ${note}`),
        `const own = { baseUrl: ${baseUrl}, headers: ${JSON.stringify(headers)} };`,
        "const body = { code: process.env.MONETA_CODE! };",
        'const { response } = await createClient(own).POST("/v1/console/session", { body });',
        'const Cookie = response.headers.getSetCookie().map((one) => one.split(";")[0]).join("; ");',
        "const client = createClient({ ...own, headers: { ...own.headers, Cookie } });",
    ];
}
function urlOf({ path, pathParams = {}, query = {} }, service) {
    const filled = path.replace(/\{([^}]+)\}/g, (whole, name) => name in pathParams ? encodeURIComponent(String(pathParams[name])) : whole);
    const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
    const search = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
    return `${service.replace(/\/$/, "")}${filled}${search === "" ? "" : `?${search}`}`;
}
/**
 * Characters that a terminal or an editor may obey or hide instead of showing: control characters, and those that change the
 * direction of text. Whoever pastes a command must see what it does.
 */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
/** JSON in which such characters are escaped: they can only be inside its strings. Its own line breaks stay. */
function jsonOf(value, indent) {
    return JSON.stringify(value, null, indent).replace(UNSEEN, (character) => character === "\n" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
/** For a POSIX shell: nothing in single quotes is special, except their end. */
function quoted(text) {
    return `'${text.replaceAll("'", "'\\''")}'`;
}
/** JSON is also TypeScript. Short values stay on one line. */
function literal(value) {
    const line = jsonOf(value);
    return line.length <= WIDTH ? line : jsonOf(value, 2);
}
function isEmpty(value) {
    return value === undefined || Object.keys(value).length === 0;
}
