/** Hands text over: to the clipboard, or as a file. */

/**
 * Copy text. Without TLS browsers offer no clipboard; the old way still works.
 * @param {string} text
 * @returns {Promise<boolean>} whether it was copied
 */
export async function copyText(text) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Refused, as without a permission: the old way may be allowed.
    }
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'hidden';
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
}

/**
 * Save text as a file.
 * @param {string} name
 * @param {string} text
 */
export function saveText(name, text) {
  const link = document.createElement('a');
  const url = URL.createObjectURL(new Blob([text], { type: 'text/html' }));
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
