/** Makes a label with a file input take files that are dropped on it, too. */
export function takeFiles(label, input, take) {
  input.addEventListener('change', () => {
    if (input.files.length > 0) take([...input.files]);
    input.value = '';
  });
  label.addEventListener('dragover', (event) => {
    event.preventDefault();
    label.classList.add('over');
  });
  label.addEventListener('dragleave', () => label.classList.remove('over'));
  label.addEventListener('drop', (event) => {
    event.preventDefault();
    label.classList.remove('over');
    if (event.dataTransfer.files.length > 0) take([...event.dataTransfer.files]);
  });
}
