# Writes SOURCES, a list of text files, as C++ raw strings to OUTPUT: one
# PAGE_TEXT(extension, text) for each file, in their order.
set(text "// Made of the files in lib/Report/Page.\n")
foreach(source ${SOURCES})
  get_filename_component(extension "${source}" LAST_EXT)
  string(SUBSTRING "${extension}" 1 -1 extension)
  file(READ "${source}" content)
  string(APPEND text "PAGE_TEXT(${extension}, R\"_page_(${content})_page_\")\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
