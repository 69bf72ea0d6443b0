import { useState } from 'react';
import { formatBytes, useTexts } from '../../i18n';
import { composerCatalog } from './composer-texts';

/** What the API takes, in bytes. */
const maxBytes = 10 * 1024 * 1024;
/** Above this WhatsApp delivers a picture as a document. */
export const maxPictureBytes = 5 * 1024 * 1024;
const maxPicturePx = 2_560;

export interface Attachment {
  file: File;
  /** The bytes in Base64. */
  data: string;
}

/** The one file that is sent with the next reply. */
export function useAttachment() {
  const composer = useTexts(composerCatalog);
  const [attachment, setAttachment] = useState<Attachment | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const attach = async (files: FileList | readonly File[] | null) => {
    const [given] = files ?? [];
    if (given === undefined) return;
    setProblem(files!.length > 1 ? composer.oneFile : null);
    const file = await asPicture(given);
    if (file.size === 0) return setProblem(composer.fileEmpty(file.name));
    if (file.size > maxBytes)
      return setProblem(
        composer.fileTooLarge(file.name, formatBytes(file.size), formatBytes(maxBytes)),
      );
    setAttachment({ file, data: await toBase64(file) });
  };
  const remove = () => {
    setAttachment(null);
    setProblem(null);
  };
  return { attachment, problem, attach, remove };
}

/**
 * A picture as WhatsApp shows it: photos of phones are often too large or of a type that it
 * delivers as a document.
 */
async function asPicture(file: File): Promise<File> {
  const isOther = /^image\/(?!jpeg|png|gif|svg)/.test(file.type);
  if (!isOther && !(/^image\/(jpeg|png)$/.test(file.type) && file.size > maxPictureBytes))
    return file;
  try {
    const picture = await createImageBitmap(file);
    const scale = Math.min(1, maxPicturePx / Math.max(picture.width, picture.height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(picture.width * scale);
    canvas.height = Math.round(picture.height * scale);
    canvas.getContext('2d')!.drawImage(picture, 0, 0, canvas.width, canvas.height);
    const smaller = await new Promise<Blob | null>((done) =>
      canvas.toBlob(done, 'image/jpeg', 0.85),
    );
    return smaller === null
      ? file
      : new File([smaller], file.name.replace(/(\.\w+)?$/, '.jpg'), { type: smaller.type });
  } catch {
    // The browser does not know the type: it is sent as it is.
    return file;
  }
}

async function toBase64(file: Blob): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(',') + 1);
}
