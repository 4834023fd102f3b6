import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";

import type { RequestHandler } from "express";
import helmet from "helmet";

/**
 * Sets Helmet's headers. Helmet runs a chain of functions for each answer, and here they always set the same headers. So
 * they run once, and each answer gets the result.
 */
export function securityHeaders(): RequestHandler {
  const headers = headersOfHelmet();
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}

function headersOfHelmet(): [name: string, value: string][] {
  const setHeaders = helmet({
    // JSON loads nothing. The pages set their own policy. (Helmet's default policy would also redirect plain HTTP to HTTPS.)
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    // HTTPS for a whole domain is the operator's decision: the proxy that terminates TLS sets this header.
    strictTransportSecurity: false,
  });
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const headers: [string, string][] = [];
  response.setHeader = (name, value) => {
    headers.push([name, String(value)]);
    return response;
  };
  setHeaders(request, response, (error) => {
    if (error !== undefined) throw new Error("Helmet cannot make the security headers", { cause: error });
  });
  return headers;
}
