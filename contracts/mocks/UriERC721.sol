// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// @title UriERC721
/// @notice A contract whose tokens name any URI, and some of which answer in a hostile way. For tests of copies of
/// metadata.
contract UriERC721 is ERC721 {
    enum Mode {
        Honest,
        Revert,
        BurnAllGas,
        ReturnMegabytes
    }

    uint256 private _next;
    string private _contractUri;
    mapping(uint256 tokenId => string) private _uris;
    mapping(uint256 tokenId => Mode) private _modes;

    error Refused();

    constructor() ERC721("Uris", "URI") {}

    /// @notice Mints the next token to the sender. The first one has the id 0.
    function mint(string calldata uri, Mode mode) external {
        _uris[_next] = uri;
        _modes[_next] = mode;
        _mint(msg.sender, _next);
        ++_next;
    }

    function setUri(uint256 tokenId, string calldata uri) external {
        _uris[tokenId] = uri;
    }

    function setContractURI(string calldata uri) external {
        _contractUri = uri;
    }

    function contractURI() external view returns (string memory) {
        return _contractUri;
    }

    function tokenURI(uint256 tokenId) public view override returns (string memory) {
        Mode mode = _modes[tokenId];
        if (mode == Mode.Revert) revert Refused();
        if (mode == Mode.ReturnMegabytes) return string(new bytes(1_000_000));
        if (mode == Mode.BurnAllGas) return string(new bytes(type(uint32).max));
        return _uris[tokenId];
    }
}
