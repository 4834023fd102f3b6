import { DEFAULT_LIMITS } from "../../../api/config/limits.ts";
import { apiDocument } from "../../../api/v1/openapi/document.ts";
/** The service's document as a browser gets it. */
export function documentOfService() {
    const document = apiDocument({ publicUrl: "http://127.0.0.1:3000", limits: DEFAULT_LIMITS });
    return JSON.parse(JSON.stringify(document));
}
