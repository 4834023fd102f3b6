import { useEffect, useRef, useState } from "preact/hooks";

import { Prose } from "../../parts/prose.tsx";
import { uploadFile } from "../../service/client.ts";
import { mediaUrl } from "../../service/links.ts";
import { mayUse } from "../../service/session.ts";
import { useObjectUrl } from "../../write/preview-card.tsx";
import type { TextField } from "../model/fields.ts";
import { sentenceOf } from "../../parts/sentence.ts";
import type { FormContext } from "./field-control.tsx";
import { describedBy, FieldErrors } from "./field-frame.tsx";

interface PictureProps {
  field: TextField;
  path: string;
  value: string;
  context: FormContext;
  onChange: (uri: string) => void;
}

type Upload = { is: "none" } | { is: "running" | "done"; file: File } | { is: "failed"; message: string };

/**
 * A URI, or a file that is dropped here or chosen, and uploaded at once; with a preview of the picture. Without the scope for
 * uploads only a URI.
 */
export function PictureControl({ field, path, value, context, onChange }: PictureProps) {
  const id = `${context.form}-${path}`;
  const [upload, setUpload] = useState<Upload>({ is: "none" });
  const latest = useRef(0);
  const uploads = mayUse("media");
  // The form may have been emptied for another call.
  const file = upload.is === "running" || (upload.is === "done" && value !== "") ? upload.file : null;
  const errors = [...context.errorsOf(path), ...(upload.is === "failed" ? [upload.message] : [])];

  const take = async (file: File) => {
    const own = ++latest.current;
    setUpload({ is: "running", file });
    context.onPicture?.(field.name, file);
    try {
      const uri = await uploadFile(file);
      // Another file was chosen in the meantime.
      if (own !== latest.current) return;
      setUpload({ is: "done", file });
      onChange(uri);
    } catch (error) {
      if (own !== latest.current) return;
      setUpload({ is: "failed", message: `${file.name} was not uploaded. ${sentenceOf(error)}` });
      context.onPicture?.(field.name, null);
    }
  };
  const type = (text: string) => {
    latest.current++;
    setUpload({ is: "none" });
    context.onPicture?.(field.name, null);
    onChange(text);
  };
  return (
    <fieldset class="form-picture">
      <legend>
        {field.label} {!field.required && <span class="optional">optional</span>}
      </legend>
      {uploads && <DropZone id={`${id}-file`} upload={upload} onFile={(file) => void take(file)} />}
      <label for={id}>{uploads ? "or its URI" : "URI"}</label>
      <input
        type="text"
        autocomplete="off"
        spellcheck={false}
        {...describedBy(id, field.help !== null, errors)}
        value={value}
        onInput={({ currentTarget }) => type(currentTarget.value)}
      />
      {field.help !== null && (
        <p class="hint" id={`${id}-help`}>
          <Prose text={field.help} />
        </p>
      )}
      <FieldErrors id={id} errors={errors} />
      <Preview file={file} uri={field.name === "image" ? value : ""} />
    </fieldset>
  );
}

/** Milliseconds without a key press after which the picture of a URI is loaded. */
const PAUSE_MS = 400;

interface PreviewProps {
  /** A file of this computer. */
  file: File | null;
  uri: string;
}

function Preview({ file, uri }: PreviewProps) {
  const local = useObjectUrl(file);
  const [settled, setSettled] = useState(uri);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(uri), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [uri]);
  const url = local ?? (settled === uri && uri !== "" ? mediaUrl(uri) : null);
  const [failed, setFailed] = useState<string | null>(null);
  if (url === null) return null;
  return url === failed ? (
    <p class="hint">The browser can load no picture from there.</p>
  ) : (
    <div class="picture form-thumb">
      <img src={url} alt="Preview of the picture" referrerpolicy="no-referrer" onError={() => setFailed(url)} />
    </div>
  );
}

interface DropProps {
  id: string;
  upload: Upload;
  onFile: (file: File) => void;
}

function DropZone({ id, upload, onFile }: DropProps) {
  const [over, setOver] = useState(false);
  const take = (files: FileList | null | undefined) => {
    const [file] = files ?? [];
    if (file !== undefined) onFile(file);
  };
  return (
    <div
      class={over ? "form-drop form-drop-over" : "form-drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => {
        setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <label for={id}>Drop a file here, or choose one</label>
      <input
        id={id}
        type="file"
        accept="image/*,video/*,audio/*,model/*"
        onChange={({ currentTarget }) => {
          take(currentTarget.files);
        }}
      />
      <p role="status">{statusOf(upload)}</p>
    </div>
  );
}

function statusOf(upload: Upload): string {
  if (upload.is === "running") return `Uploading ${upload.file.name} …`;
  return upload.is === "done" ? `${upload.file.name} is uploaded.` : "";
}
